package io.cachedhive.trino.filesystem;

import com.google.inject.Inject;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.trino.context.ReadContext;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.cache.CacheKeyProvider;
import io.trino.spi.catalog.CatalogName;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Says which files are cached at all: those that a scan reads, in a file system that is cached.
 *
 * <p>The key only passes through tracing. Trino's own provider would ask the origin for length and time of every file whose reader does not know them.
 */
public final class ReadContextCacheKeyProvider
        implements CacheKeyProvider
{
    private final String catalog;
    private final FileOrigins origins;

    @Inject
    public ReadContextCacheKeyProvider(CatalogName catalog, FileOrigins origins)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.origins = requireNonNull(origins, "origins is null");
    }

    @Override
    public Optional<String> getCacheKey(TrinoInputFile inputFile)
    {
        if (ReadContext.current(catalog).isEmpty() || origins.find(inputFile.location().toString()).isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(inputFile.location().toString());
    }
}
