package io.cachedhive.store.policy;

import java.util.Random;
import java.util.function.Function;

/**
 * What caches are held against: traces with a cache each. The seeds were chosen before the policy was made to pass, and none was taken out.
 */
public enum KindOfTrace
{
    ZIPF_06(1024, Constants.SEEDS, random -> BlockTraces.zipf(random, 20_000, 0.6, Constants.REQUESTS)),
    ZIPF_08(1024, Constants.SEEDS, random -> BlockTraces.zipf(random, 20_000, 0.8, Constants.REQUESTS)),
    ZIPF_08_LARGE_CACHE(4096, Constants.SEEDS, random -> BlockTraces.zipf(random, 20_000, 0.8, Constants.REQUESTS)),
    ZIPF_10(1024, Constants.SEEDS, random -> BlockTraces.zipf(random, 20_000, 1.0, Constants.REQUESTS)),
    ZIPF_12(256, Constants.SEEDS, random -> BlockTraces.zipf(random, 20_000, 1.2, Constants.REQUESTS)),
    ZIPF_12_LARGE_CACHE(4096, Constants.SEEDS, random -> BlockTraces.zipf(random, 20_000, 1.2, Constants.REQUESTS)),
    LOOP_A_QUARTER_TOO_LONG(1024, Constants.NO_SEEDS, _ -> BlockTraces.loop(1280, Constants.REQUESTS)),
    LOOP_TWICE_AS_LONG(1024, Constants.NO_SEEDS, _ -> BlockTraces.loop(2048, Constants.REQUESTS)),
    HOT_SET_OF_HALF_AND_SCANS(1024, Constants.SEEDS, random -> BlockTraces.hotSetAndScans(random, 512, 2048, Constants.REQUESTS)),
    HOT_SET_OF_ALL_AND_SCANS(1024, Constants.SEEDS, random -> BlockTraces.hotSetAndScans(random, 1024, 2048, Constants.REQUESTS)),
    SCANS_OF_MANY_TABLES(1024, Constants.MORE_SEEDS, random -> BlockTraces.loopsOfManyTables(random, 12, 2048, Constants.REQUESTS)),
    SCANS_OF_MANY_TABLES_LARGE_CACHE(4096, Constants.MORE_SEEDS, random -> BlockTraces.loopsOfManyTables(random, 12, 2048, Constants.REQUESTS)),
    STAR_SCHEMA(1024, Constants.SEEDS, random -> BlockTraces.starSchema(random, Constants.REQUESTS)),
    STAR_SCHEMA_LARGE_CACHE(4096, Constants.SEEDS, random -> BlockTraces.starSchema(random, Constants.REQUESTS)),
    NEWEST_DAYS(1024, Constants.SEEDS, random -> BlockTraces.newestDays(random, 256, 60, Constants.REQUESTS)),
    NEWEST_DAYS_LARGE_CACHE(4096, Constants.SEEDS, random -> BlockTraces.newestDays(random, 256, 60, Constants.REQUESTS)),
    TPCDS(512, Constants.NO_SEEDS, _ -> BlockTraces.tpcds(Constants.TPCDS_BLOCK_BYTES)),
    TPCDS_MIDDLE_CACHE(1024, Constants.NO_SEEDS, _ -> BlockTraces.tpcds(Constants.TPCDS_BLOCK_BYTES)),
    TPCDS_LARGE_CACHE(2048, Constants.NO_SEEDS, _ -> BlockTraces.tpcds(Constants.TPCDS_BLOCK_BYTES));

    private final int capacity;
    private final long[] seeds;
    private final Function<Random, long[]> generator;

    KindOfTrace(int capacity, long[] seeds, Function<Random, long[]> generator)
    {
        this.capacity = capacity;
        this.seeds = seeds;
        this.generator = generator;
    }

    /**
     * Blocks that the cache has room for.
     */
    public int capacity()
    {
        return capacity;
    }

    public long[] seeds()
    {
        return seeds.clone();
    }

    public long[] blocks(long seed)
    {
        return generator.apply(new Random(seed));
    }

    private static final class Constants
    {
        private static final long[] SEEDS = {7, 99, 12345};
        private static final long[] MORE_SEEDS = {7, 99, 12345, 1, 2};
        private static final long[] NO_SEEDS = {0};
        private static final int REQUESTS = 200_000;
        // tables of a gigabyte with blocks of 32 KiB stand for tables of 32 GB with blocks of 1 MiB
        private static final int TPCDS_BLOCK_BYTES = 32 << 10;

        private Constants() {}
    }
}
