package io.cachedhive.store.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The file system operations that the SSD tier needs. {@link LocalDisk} uses this machine; tests simulate power
 * failures.
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
     * Returns the mount point of the directory's file system.
     *
     * @throws DiskException {@link DiskException.Cause#NOT_FOUND} if the directory does not exist
     */
    Path mountPoint(Path directory)
            throws IOException;

    /**
     * Opens a file for reading and, unless the access is read-only, writing.
     *
     * @param create whether to create a missing file, empty
     * @param access mode of the reads and writes
     */
    DiskFile open(Path file, boolean create, Access access)
            throws IOException;

    /**
     * Deletes a file if it exists.
     */
    void delete(Path file)
            throws IOException;

    /**
     * Renames a file within its directory and replaces an existing target. Durable after {@link #syncDirectory}.
     */
    void rename(Path file, Path target)
            throws IOException;

    /**
     * Makes created, renamed and deleted files of the directory durable.
     */
    void syncDirectory(Path directory)
            throws IOException;

    /**
     * Creates the directory and its missing parents with mode 0700; durable on return.
     */
    default void createDirectories(Path directory)
            throws IOException
    {
        Deque<Path> missing = new ArrayDeque<>();
        for (Path each = directory.toAbsolutePath().normalize(); each != null && !Files.exists(each); each = each.getParent()) {
            missing.push(each);
        }
        Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        for (Path created : missing) {
            syncDirectory(created.getParent());
        }
    }

    /**
     * Replaces the content of a small file atomically; durable on return. After a crash or a failure, the file has
     * either the old or the new content.
     */
    default void replace(Path file, byte[] content)
            throws IOException
    {
        Path beside = file.resolveSibling(file.getFileName() + ".new");
        // an interrupted replacement may have left a longer file
        delete(beside);
        try (DiskFile target = open(beside, true, Access.BUFFERED)) {
            target.write(0, ByteBuffer.allocateDirect(content.length).put(content).flip());
            // before the rename, because a file system may make the new name durable before the content
            target.sync();
        }
        rename(beside, file);
        // until this, a power failure may restore the old file, or none
        syncDirectory(file.toAbsolutePath().getParent());
    }

    /**
     * Returns the content of a small file; empty if it does not exist.
     */
    Optional<byte[]> read(Path file)
            throws IOException;

    /**
     * Returns the size of the file system.
     */
    long totalBytes(Path directory)
            throws IOException;

    /**
     * Returns the bytes that this process can still allocate on the file system.
     */
    long usableBytes(Path directory)
            throws IOException;

    /**
     * Locks a file, and creates it if it is missing. The lock ends when it is closed or this process ends in any way.
     *
     * @return empty if this or another process holds the lock
     */
    Optional<Closeable> tryLock(Path file)
            throws IOException;

    enum Access
    {
        /**
         * Read-only, through the page cache.
         */
        READ_ONLY,
        /**
         * Through the page cache.
         */
        BUFFERED,
        /**
         * Without the page cache. Positions, sizes and buffer addresses have to be multiples of
         * {@link DiskFile#ALIGNMENT_BYTES}. Fails with {@link DiskException.Cause#NOT_SUPPORTED} if the file system
         * does not support it.
         */
        DIRECT,
    }
}
