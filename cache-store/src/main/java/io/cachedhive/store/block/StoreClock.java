package io.cachedhive.store.block;

/**
 * Time, as the store sees it.
 */
public interface StoreClock
{
    StoreClock SYSTEM = new StoreClock()
    {
        @Override
        public long currentTimeMillis()
        {
            return System.currentTimeMillis();
        }

        @Override
        public long nanoTime()
        {
            return System.nanoTime();
        }
    };

    /**
     * Milliseconds since the epoch.
     */
    long currentTimeMillis();

    /**
     * Nanoseconds since any moment, never going back.
     */
    long nanoTime();

    /**
     * As {@link #nanoTime}, for telling how long a call to the machine took: it is the machine's own time, also where the store's runs faster.
     */
    default long stopwatchNanos()
    {
        return nanoTime();
    }
}
