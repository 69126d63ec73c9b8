package io.cachedhive.store.ssd;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;

import static io.cachedhive.store.disk.DiskFile.ALIGNMENT_BYTES;

/**
 * A pool of aligned buffers for O_DIRECT. They are private memory, so checksums over them are safe, unlike over
 * mappings. The number of buffers is limited; {@link #acquire} waits for a free one.
 */
final class AlignedBuffers
{
    private static final long MAX_BYTES = 64 << 20;
    private static final int MIN_COUNT = 4;
    private static final int MAX_COUNT = 32;

    private final int bufferBytes;
    private final Semaphore permits;
    @GuardedBy("itself")
    private final ArrayDeque<ByteBuffer> idle = new ArrayDeque<>();

    AlignedBuffers(int bufferBytes)
    {
        this.bufferBytes = bufferBytes;
        this.permits = new Semaphore(Math.clamp(MAX_BYTES / bufferBytes, MIN_COUNT, MAX_COUNT));
    }

    ByteBuffer acquire()
    {
        permits.acquireUninterruptibly();
        synchronized (idle) {
            ByteBuffer buffer = idle.poll();
            if (buffer != null) {
                return buffer.clear();
            }
        }
        boolean success = false;
        try {
            ByteBuffer buffer = allocate(bufferBytes);
            success = true;
            return buffer;
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

    void release(ByteBuffer buffer)
    {
        synchronized (idle) {
            idle.push(buffer);
        }
        permits.release();
    }
}
