package io.cachedhive.store.ssd;

import io.cachedhive.store.block.ByteSize;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.DiskException;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.time.Duration;

import static java.util.Objects.requireNonNull;

/**
 * A directory is unusable because of its disk, not because of the configuration. The message is one sentence for the
 * operator: the problem, its place and the fix.
 */
final class DirectoryOutException
        extends Exception
{
    private final SsdErrorCause reason;

    DirectoryOutException(SsdErrorCause reason, String message)
    {
        super(message);
        this.reason = requireNonNull(reason, "reason is null");
    }

    /**
     * @param wasMade whether the directory already has a store with the configured size
     * @throws StoreException if the configuration is the cause
     */
    static DirectoryOutException of(Path path, IOException failure, boolean wasMade)
            throws StoreException
    {
        if (isMatterOfConfiguration(failure, wasMade)) {
            throw new StoreException("SSD directory %s cannot be used (%s): let this user write there, or repair the disk".formatted(path, failure.getMessage()), failure);
        }
        return new DirectoryOutException(SsdErrorCause.of(failure), "SSD directory %s is not used since the start (%s); retrying every %s s: repair the disk".formatted(
                path,
                failure.getMessage(),
                Duration.ofNanos(DirectoryHealth.SUSPENSION_NANOS).toSeconds()));
    }

    static DirectoryOutException noSpace(Path path, long missingBytes)
    {
        return new DirectoryOutException(
                SsdErrorCause.NO_SPACE,
                "SSD directory %s is not used since the start (files are missing, and its disk lacks %s for them); retrying every %s s: free disk space there".formatted(
                        path,
                        ByteSize.format(missingBytes),
                        Duration.ofNanos(DirectoryHealth.SUSPENSION_NANOS).toSeconds()));
    }

    private static boolean isMatterOfConfiguration(IOException failure, boolean wasMade)
    {
        if (!(failure instanceof DiskException disk)) {
            return failure instanceof AccessDeniedException;
        }
        return switch (disk.reason()) {
            case IO_ERROR, READ_ONLY, OTHER -> false;
            case NO_SPACE -> !wasMade;
            case NOT_FOUND, EXISTS, NOT_PERMITTED, NOT_SUPPORTED -> true;
        };
    }

    SsdErrorCause reason()
    {
        return reason;
    }
}
