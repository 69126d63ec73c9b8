package io.cachedhive.store;

import io.cachedhive.store.block.StoreClock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands still until it is moved. Its stopwatch, with which disk operations are timed, is moved apart from it: periodic
 * tasks of the store work on the disk in real time, and would seem to hang whenever a test moves the clock meanwhile.
 */
public final class ManualClock
        implements StoreClock
{
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicLong stopwatchNanos = new AtomicLong();

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

    @Override
    public long stopwatchNanos()
    {
        return stopwatchNanos.get();
    }

    public void advance(Duration duration)
    {
        nanos.addAndGet(duration.toNanos());
    }

    /**
     * Also lets all running disk operations take so long.
     */
    public void advanceWithStopwatch(Duration duration)
    {
        stopwatchNanos.addAndGet(duration.toNanos());
        advance(duration);
    }
}
