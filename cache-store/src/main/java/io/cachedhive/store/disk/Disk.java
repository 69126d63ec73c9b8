package io.cachedhive.store.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
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
     * Gives a file another name in the same directory, in place of the file that has that name. Durable after
     * {@link #syncDirectory}.
     */
    void rename(Path file, Path target)
            throws IOException;

    /**
     * Returns when files made, renamed and deleted in the directory are durable.
     */
    void syncDirectory(Path directory)
            throws IOException;

    /**
     * Creates the directory and its parents, if they are missing; durable on return.
     */
    default void createDirectories(Path directory)
            throws IOException
    {
        Deque<Path> missing = new ArrayDeque<>();
        for (Path each = directory.toAbsolutePath().normalize(); each != null && !Files.exists(each); each = each.getParent()) {
            missing.push(each);
        }
        Files.createDirectories(directory);
        for (Path created : missing) {
            syncDirectory(created.getParent());
        }
    }

    /**
     * Replaces a small file, so that after a crash either the old or the new content is there; durable on return. After
     * a failure, too, either content is there.
     */
    default void replace(Path file, byte[] content)
            throws IOException
    {
        Path beside = file.resolveSibling(file.getFileName() + ".new");
        // what an interrupted replacement left may be longer
        delete(beside);
        try (DiskFile target = open(beside, true, Access.BUFFERED)) {
            target.write(0, ByteBuffer.allocateDirect(content.length).put(content).flip());
            // before the rename: a file system may make the new name durable before the content
            target.sync();
        }
        rename(beside, file);
        // after it: until then a power cut may bring back the old file, or none
        syncDirectory(file.toAbsolutePath().getParent());
    }

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
