package io.cachedhive.store.block;

/**
 * The clock of the store.
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
     * Returns epoch milliseconds.
     */
    long currentTimeMillis();

    /**
     * Returns monotonic nanoseconds since an arbitrary moment.
     */
    long nanoTime();

    /**
     * Returns monotonic nanoseconds for measuring system calls: real time, even if the store's clock is accelerated.
     */
    default long stopwatchNanos()
    {
        return nanoTime();
    }
}
