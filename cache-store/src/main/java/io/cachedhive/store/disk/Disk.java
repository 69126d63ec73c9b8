package io.cachedhive.store.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The file systems under the SSD tier, as far as it needs them. {@link LocalDisk} is the machine's; tests have one that loses power.
 */
public interface Disk
{
    /**
     * @return the names of the files in the directory
     */
    List<String> list(Path directory)
            throws IOException;

    boolean exists(Path file);

    /**
     * Where the file system that the directory is on is mounted.
     *
     * @throws DiskException {@link DiskException.Cause#NOT_FOUND} if there is no such directory
     */
    Path mountPoint(Path directory)
            throws IOException;

    /**
     * Opens a file for reading and, unless the access says otherwise, writing; makes it, empty, if it is missing and may be made.
     *
     * @param access how its bytes are to be moved
     */
    DiskFile open(Path file, boolean create, Access access)
            throws IOException;

    /**
     * Nothing happens if there is no such file.
     */
    void delete(Path file)
            throws IOException;

    /**
     * Returns when files made and deleted in the directory are durable.
     */
    void syncDirectory(Path directory)
            throws IOException;

    /**
     * Replaces a small file, so that after a crash either the old or the new content is there; durable on return.
     */
    void replace(Path file, byte[] content)
            throws IOException;

    /**
     * The content of a small file; empty if there is none.
     */
    Optional<byte[]> read(Path file)
            throws IOException;

    /**
     * Size of the file system.
     */
    long totalBytes(Path directory)
            throws IOException;

    /**
     * What this process may still take of the file system.
     */
    long usableBytes(Path directory)
            throws IOException;

    /**
     * Locks a file, making it if it is missing, until the lock is closed or this process ends, however it ends.
     *
     * @return empty if somebody else has the lock, in this process or another
     */
    Optional<Closeable> tryLock(Path file)
            throws IOException;

    enum Access
    {
        /**
         * Through the page cache, and for reading only.
         */
        READ_ONLY,
        /**
         * Through the page cache.
         */
        BUFFERED,
        /**
         * Past the page cache: positions, sizes and addresses of buffers have to be multiples of {@link DiskFile#ALIGNMENT_BYTES}.
         * {@link DiskException.Cause#NOT_SUPPORTED} where the file system cannot.
         */
        DIRECT,
    }
}
