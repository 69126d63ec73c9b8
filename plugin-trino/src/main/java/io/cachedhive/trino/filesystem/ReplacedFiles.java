package io.cachedhive.trino.filesystem;

import com.google.common.base.Throwables;
import io.cachedhive.client.FileReplacedException;
import io.trino.spi.TrinoException;

import java.util.Optional;

import static io.cachedhive.trino.filesystem.CacheErrorCode.CACHE_FILE_REPLACED;

/**
 * How a query fails when a file was replaced while one of its splits was read.
 *
 * <p>Readers report most failures of a file with a message of their own, from which a user could not know what to do.
 */
public final class ReplacedFiles
{
    private ReplacedFiles() {}

    static TrinoException failure(FileReplacedException replaced)
    {
        return new TrinoException(CACHE_FILE_REPLACED, replaced.getMessage(), replaced);
    }

    /**
     * @return what the query is to fail with, if the reader failed because a file was replaced; empty if it failed for another reason
     */
    public static Optional<TrinoException> find(Throwable failure)
    {
        return Throwables.getCausalChain(failure).stream()
                .filter(FileReplacedException.class::isInstance)
                .findFirst()
                .map(replaced -> new TrinoException(CACHE_FILE_REPLACED, replaced.getMessage(), failure));
    }
}
