package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

import static io.cachedhive.store.disk.DiskFile.ALIGNMENT_BYTES;
import static java.util.Objects.requireNonNull;

/**
 * A pool of aligned buffers for O_DIRECT. They are private memory, so checksums over them are safe, unlike over
 * mappings. The number of buffers is limited; {@link #acquire} waits for a free one.
 */
final class AlignedBuffers
{
    private static final long MAX_BYTES = 64 << 20;
    private static final int MIN_COUNT = 1;

    private final Supplier<ExtentBuffers> allocator;
    private final Semaphore permits;
    @GuardedBy("itself")
    private final ArrayDeque<ExtentBuffers> idle = new ArrayDeque<>();

    /**
     * @param bytes size of the memory that the allocator returns
     * @param pools the number of pools that share the limit of memory
     */
    AlignedBuffers(int bytes, int pools, Supplier<ExtentBuffers> allocator)
    {
        this.permits = new Semaphore(Math.clamp(MAX_BYTES / bytes / Math.max(1, pools), MIN_COUNT, DirectoryLoads.THREADS));
        this.allocator = requireNonNull(allocator, "allocator is null");
    }

    ExtentBuffers acquire()
    {
        permits.acquireUninterruptibly();
        synchronized (idle) {
            ExtentBuffers buffers = idle.poll();
            if (buffers != null) {
                buffers.bytes().clear();
                return buffers;
            }
        }
        boolean success = false;
        try {
            ExtentBuffers buffers = allocator.get();
            success = true;
            return buffers;
        }
        finally {
            if (!success) {
                permits.release();
            }
        }
    }

    static ByteBuffer allocate(int bytes)
    {
        return ByteBuffer.allocateDirect(bytes + ALIGNMENT_BYTES).alignedSlice(ALIGNMENT_BYTES).slice(0, bytes);
    }

    void release(ExtentBuffers buffers)
    {
        synchronized (idle) {
            idle.push(buffers);
        }
        permits.release();
    }
}
