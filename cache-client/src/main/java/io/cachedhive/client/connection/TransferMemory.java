package io.cachedhive.client.connection;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory through which blocks come from workers, outside the heap so that the network card's bytes are copied once.
 *
 * <p>A reader reserves before it asks, so that an answer always finds its memory, and a client that is full refuses before anybody works for it.
 * Buffers are kept for the next answer, up to a limit.
 */
public final class TransferMemory
{
    private static final int SMALLEST_BYTES = 64 << 10;
    private static final long IDLE_BYTES = 32L << 20;

    private final long limitBytes;
    private final AtomicLong reservedBytes = new AtomicLong();

    // guarded by this
    private final Map<Integer, Deque<ByteBuffer>> idle = new HashMap<>();
    private long idleBytes;
    private long lentBytes;

    public TransferMemory(long limitBytes)
    {
        this.limitBytes = limitBytes;
    }

    /**
     * @return false if it does not fit
     */
    public boolean tryReserve(long bytes)
    {
        while (true) {
            long reserved = reservedBytes.get();
            if (reserved + bytes > limitBytes) {
                return false;
            }
            if (reservedBytes.compareAndSet(reserved, reserved + bytes)) {
                return true;
            }
        }
    }

    public void release(long bytes)
    {
        reservedBytes.addAndGet(-bytes);
    }

    public long reservedBytes()
    {
        return reservedBytes.get();
    }

    /**
     * Bytes of buffers that are in somebody's hands.
     */
    public synchronized long lentBytes()
    {
        return lentBytes;
    }

    /**
     * What a block of that size takes: buffers come in powers of two.
     */
    public static int footprint(int bytes)
    {
        return Math.max(SMALLEST_BYTES, Integer.highestOneBit(Math.max(1, bytes - 1)) << 1);
    }

    /**
     * Reserves and takes at once, for an answer that nobody reserved for; what was reserved is released with the buffer.
     *
     * @return null if it does not fit
     */
    Buffer tryTake(int bytes)
    {
        int footprint = footprint(bytes);
        if (!tryReserve(footprint)) {
            return null;
        }
        try {
            Buffer buffer = take(bytes);
            buffer.reservedBytes = footprint;
            return buffer;
        }
        catch (Throwable e) {
            TransferMemory.this.release(footprint);
            throw e;
        }
    }

    Buffer take(int bytes)
    {
        int capacity = footprint(bytes);
        ByteBuffer memory = null;
        synchronized (this) {
            Deque<ByteBuffer> candidates = idle.get(capacity);
            if (candidates != null) {
                memory = candidates.pollLast();
            }
            if (memory != null) {
                idleBytes -= capacity;
            }
            lentBytes += capacity;
        }
        if (memory == null) {
            try {
                memory = ByteBuffer.allocateDirect(capacity);
            }
            catch (Throwable e) {
                synchronized (this) {
                    lentBytes -= capacity;
                }
                throw e;
            }
        }
        memory.clear().limit(bytes);
        return new Buffer(memory);
    }

    private synchronized void giveBack(ByteBuffer memory)
    {
        lentBytes -= memory.capacity();
        if (idleBytes + memory.capacity() <= IDLE_BYTES) {
            idleBytes += memory.capacity();
            idle.computeIfAbsent(memory.capacity(), _ -> new ArrayDeque<>()).addLast(memory);
        }
    }

    /**
     * Memory in the hands of one owner, who gives it back once.
     */
    public final class Buffer
    {
        private ByteBuffer memory;
        private long reservedBytes;

        private Buffer(ByteBuffer memory)
        {
            this.memory = memory;
        }

        public ByteBuffer bytes()
        {
            if (memory == null) {
                throw new IllegalStateException("buffer was released");
            }
            return memory;
        }

        public void release()
        {
            ByteBuffer released = bytes();
            memory = null;
            giveBack(released);
            if (reservedBytes > 0) {
                TransferMemory.this.release(reservedBytes);
            }
        }
    }
}
