package io.cachedhive.client;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds the heap that holds bytes on their way between the origin, workers and readers.
 */
final class HeapBudget
{
    private final long limitBytes;
    private final AtomicLong reservedBytes = new AtomicLong();

    HeapBudget(long limitBytes)
    {
        this.limitBytes = limitBytes;
    }

    boolean tryReserve(long bytes)
    {
        if (reservedBytes.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        release(bytes);
        return false;
    }

    /**
     * For what readers can do without: leaves half of the memory to everything else.
     */
    boolean tryReserveSpare(long bytes)
    {
        if (reservedBytes.addAndGet(bytes) <= limitBytes / 2) {
            return true;
        }
        release(bytes);
        return false;
    }

    void release(long bytes)
    {
        reservedBytes.addAndGet(-bytes);
    }

    long reservedBytes()
    {
        return reservedBytes.get();
    }
}
