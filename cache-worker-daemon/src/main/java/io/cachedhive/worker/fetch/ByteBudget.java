package io.cachedhive.worker.fetch;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit on bytes in use.
 */
public final class ByteBudget
{
    private final long limitBytes;
    private final AtomicLong used = new AtomicLong();

    public ByteBudget(long limitBytes)
    {
        if (limitBytes <= 0) {
            throw new IllegalArgumentException("limit is not positive: " + limitBytes);
        }
        this.limitBytes = limitBytes;
    }

    public boolean tryAcquire(long bytes)
    {
        if (used.addAndGet(bytes) <= limitBytes) {
            return true;
        }
        used.addAndGet(-bytes);
        return false;
    }

    public void release(long bytes)
    {
        if (used.addAndGet(-bytes) < 0) {
            throw new IllegalStateException("more bytes were released than acquired");
        }
    }

    public long used()
    {
        return used.get();
    }

    public long limit()
    {
        return limitBytes;
    }
}
