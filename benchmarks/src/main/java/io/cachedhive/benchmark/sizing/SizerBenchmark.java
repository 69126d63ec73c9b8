package io.cachedhive.benchmark.sizing;

import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.sizing.CacheSizer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * What a cache worker pays for each request for a block to predict the hit rates of other capacities. Half of the requests are for a tenth of the blocks, and
 * there are four times as many blocks as the cache has room for.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SizerBenchmark
{
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int REQUEST_COUNT = 1 << 20;

    /// Blocks that the cache has room for: 2 GiB, 32 GiB and 1 TiB.
    @Param({"2048", "32768", "1048576"})
    public int capacityBlocks;

    private CacheSizer sizer;
    private long[] highs;
    private long[] lows;
    private int next;

    @Setup
    public void setup()
    {
        SplittableRandom random = new SplittableRandom(483);
        int blocks = 4 * capacityBlocks;
        highs = new long[REQUEST_COUNT];
        lows = new long[REQUEST_COUNT];
        for (int i = 0; i < REQUEST_COUNT; i++) {
            int block = random.nextInt(random.nextBoolean() ? blocks / 10 : blocks);
            SplittableRandom digest = new SplittableRandom(block);
            highs[i] = digest.nextLong();
            lows[i] = digest.nextLong();
        }
        sizer = new CacheSizer((long) capacityBlocks * BLOCK_BYTES, BLOCK_BYTES, true, new SystemClock());
        for (int i = 0; i < REQUEST_COUNT; i++) {
            request();
        }
    }

    @Benchmark
    public void request()
    {
        int request = next++ & (REQUEST_COUNT - 1);
        sizer.request(highs[request], lows[request], BLOCK_BYTES, () -> false);
    }

    private static final class SystemClock
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
            return System.nanoTime();
        }
    }
}
