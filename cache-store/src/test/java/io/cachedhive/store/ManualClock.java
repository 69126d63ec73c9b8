package io.cachedhive.store;

import io.cachedhive.store.block.StoreClock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands still until it is moved.
 */
public final class ManualClock
        implements StoreClock
{
    private final AtomicLong nanos = new AtomicLong();

    @Override
    public long currentTimeMillis()
    {
        return 1_700_000_000_000L + nanos.get() / 1_000_000;
    }

    @Override
    public long nanoTime()
    {
        return nanos.get();
    }

    public void advance(Duration duration)
    {
        nanos.addAndGet(duration.toNanos());
    }
}
