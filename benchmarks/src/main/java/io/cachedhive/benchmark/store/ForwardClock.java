package io.cachedhive.benchmark.store;

import io.cachedhive.store.block.StoreClock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The machine's clock, which can be put forward, so that nobody has to wait until a checkpoint is due.
 */
final class ForwardClock
        implements StoreClock
{
    private final AtomicLong forwardNanos = new AtomicLong();

    void putForward(Duration duration)
    {
        forwardNanos.addAndGet(duration.toNanos());
    }

    @Override
    public long currentTimeMillis()
    {
        return SYSTEM.currentTimeMillis();
    }

    @Override
    public long nanoTime()
    {
        return SYSTEM.nanoTime() + forwardNanos.get();
    }
}
