package io.cachedhive.store;

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
}
