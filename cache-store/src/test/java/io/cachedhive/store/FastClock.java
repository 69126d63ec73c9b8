package io.cachedhive.store;

/**
 * Runs a hundred times as fast as the machine's, so that frames need not rest long.
 */
final class FastClock
        implements StoreClock
{
    @Override
    public long currentTimeMillis()
    {
        return System.currentTimeMillis();
    }

    @Override
    public long nanoTime()
    {
        return System.nanoTime() * 100;
    }

    @Override
    public long stopwatchNanos()
    {
        return System.nanoTime();
    }
}
