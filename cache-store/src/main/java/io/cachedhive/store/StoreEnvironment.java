package io.cachedhive.store;

/**
 * Time, disks, threads and randomness, as the store is given them: tests cut the power, move the clock and replay seeds.
 */
public final class StoreEnvironment
{
    private StoreEnvironment() {}

    /**
     * The machine's own.
     */
    public static StoreEnvironment system()
    {
        return new StoreEnvironment();
    }
}
