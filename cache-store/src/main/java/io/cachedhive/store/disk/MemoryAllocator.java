package io.cachedhive.store.disk;

import java.nio.file.Path;

/**
 * Allocates the memory of shared-memory files.
 */
public interface MemoryAllocator
{
    /**
     * The allocator of this machine.
     */
    MemoryAllocator SYSTEM = (path, descriptor, offset, length) -> Posix.fallocate(path, descriptor, 0, offset, length);

    long DEFAULT_FIRST_BYTES = 256L << 20;
    long DEFAULT_STEP_BYTES = 64L << 20;

    /**
     * Allocates a range of a file. The range reads as zeros, except for parts that were allocated before. On failure,
     * the range stays as it was.
     */
    void allocate(Path path, int descriptor, long offset, long length)
            throws DiskException;

    /**
     * Returns the size of the frames that are allocated before the file is used.
     */
    default long firstBytes()
    {
        return DEFAULT_FIRST_BYTES;
    }

    /**
     * Returns the size of the frames that are allocated at a time afterwards. A step takes some ten milliseconds, for
     * which closing the file may have to wait.
     */
    default long stepBytes()
    {
        return DEFAULT_STEP_BYTES;
    }
}
