package io.cachedhive.store.sizing;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.policy.BlockTraces;
import io.cachedhive.store.policy.TraceSimulator;
import io.cachedhive.store.sizing.CacheSizer.Prediction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jol.info.GraphLayout;

import java.time.Duration;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("slow")
class TestCacheSizer
{
    private static final int BLOCK = 1 << 20;
    private static final long MAX_MEMORY_BYTES = 32 << 20;

    static {
        // lambdas and records do not tell where their fields are, and attaching to itself is refused to a process
        System.setProperty("jol.magicFieldOffset", "true");
        System.setProperty("jol.skipDynamicAttach", "true");
        System.setProperty("jol.skipHotspotSAAttach", "true");
    }

    private final TestingClock clock = new TestingClock();

    private static final class TestingClock
            implements StoreClock
    {
        private long millis = 1_700_000_000_000L;

        @Override
        public long currentTimeMillis()
        {
            return millis;
        }

        @Override
        public long nanoTime()
        {
            return millis * 1_000_000;
        }
    }

    private CacheSizer sizer(long capacityBlocks)
    {
        return new CacheSizer(capacityBlocks * BLOCK, BLOCK, false, clock);
    }

    private static void request(CacheSizer sizer, long block, int length, boolean held)
    {
        Digest128 digest = TraceSimulator.digest(block);
        sizer.request(digest.high(), digest.low(), length, () -> held);
    }

    private static void request(CacheSizer sizer, long block)
    {
        request(sizer, block, BLOCK, false);
    }

    /**
     * A cache of any size, blocks of any size, and as many different ones as there can be.
     */
    @ParameterizedTest
    @CsvSource({"1000, 1048576", "1000, 100", "2048, 65536", "1000000, 1048576", "1000000, 4096", "100000000, 8192"})
    void memoryIsBounded(long capacityBlocks, int length)
    {
        CacheSizer sizer = new CacheSizer(capacityBlocks * BLOCK, BLOCK, true, clock);
        long smallest = bytes(sizer);
        // so many that each model is full, or has as many blocks as it may; those that are not looked at take no memory
        long sampled = 0;
        for (long block = 0; sampled < 200_000; block++) {
            Digest128 digest = TraceSimulator.digest(block);
            Digest128 chosen = new Digest128(digest.high() & ~(0x3FFL << CacheSizer.FIRST_BIT), digest.low());
            sizer.request(chosen.high(), chosen.low(), length, () -> false);
            sampled++;
        }
        long largest = bytes(sizer);
        System.out.println("%s blocks, of %s bytes each: %s KiB at first, %s KiB in the end".formatted(capacityBlocks, length, smallest >> 10, largest >> 10));
        assertThat(largest).isGreaterThan(smallest).isLessThanOrEqualTo(MAX_MEMORY_BYTES);
    }

    private static long bytes(CacheSizer sizer)
    {
        return GraphLayout.parseInstance(sizer).totalSize();
    }

    @Test
    void loopThatFitsTwiceTheCapacity()
    {
        CacheSizer sizer = sizer(1000);
        for (long block : BlockTraces.loop(1900, 190_000)) {
            request(sizer, block);
        }
        Prediction prediction = sizer.prediction();
        assertThat(prediction.capacityBytes()).isEqualTo(1000L * BLOCK);
        assertThat(prediction.requestedBytes()).isEqualTo(190_000L * BLOCK);
        assertThat(prediction.distinctBytes()).isEqualTo(1900L * BLOCK);
        // all but the first round
        assertThat(prediction.hitBytes().subList(3, 7)).containsOnly(188_100L * BLOCK);
        assertThat(prediction.hitBytes().get(2)).isBetween(85_000L * BLOCK, 105_000L * BLOCK);
        assertThat(prediction.hitBytes().get(1)).isBetween(35_000L * BLOCK, 55_000L * BLOCK);
    }

    @Test
    void blocksCountByTheirBytes()
    {
        // 900 large blocks and 1000 small ones: without its bytes each would count for half
        CacheSizer sizer = sizer(1000);
        for (int round = 0; round < 10; round++) {
            for (int block = 0; block < 900; block++) {
                request(sizer, block, BLOCK, false);
            }
            for (int block = 900; block < 1900; block++) {
                request(sizer, block, BLOCK / 16, false);
            }
        }
        Prediction prediction = sizer.prediction();
        long once = 900L * BLOCK + 1000L * BLOCK / 16;
        assertThat(prediction.requestedBytes()).isEqualTo(10 * once);
        // it all fits
        assertThat(prediction.hitBytes().get(2)).isEqualTo(9 * once);
        assertThat(prediction.hitBytes().get(0)).isLessThan(5 * once);
    }

    @Test
    void smallBlocksOfALargeCacheAreSampledMore()
    {
        // blocks of 64 KiB, 12 times as many as fit the largest model; two in three requests are for blocks that were there
        CacheSizer sizer = sizer(2048);
        Random random = new Random(7);
        long misses = 0;
        boolean[] seen = new boolean[600_000];
        for (int i = 0; i < 1_800_000; i++) {
            int block = random.nextInt(seen.length);
            misses += seen[block] ? 0 : 1;
            seen[block] = true;
            request(sizer, block, BLOCK / 16, false);
        }
        Prediction prediction = sizer.prediction();
        // with room for 524 288 of them
        double fit = 524_288.0 / seen.length;
        double expected = fit * (1 - (double) misses / 1_800_000);
        double predicted = (double) prediction.hitBytes().get(6) / prediction.requestedBytes();
        assertThat(predicted).isBetween(expected - 0.05, expected + 0.08);
        assertThat(prediction.distinctBytes()).isBetween(480_000L * BLOCK / 16, 560_000L * BLOCK / 16);
        assertThat(bytes(sizer)).isLessThanOrEqualTo(MAX_MEMORY_BYTES);
    }

    /**
     * After a restart blocks are there of which the models know nothing: that nobody asked for them yet does not make their first requests misses.
     */
    @Test
    void whatWasThereBeforeIsNotCounted()
    {
        CacheSizer sizer = sizer(1000);
        for (int round = 0; round < 3; round++) {
            for (int block = 0; block < 100; block++) {
                request(sizer, block, BLOCK, true);
            }
        }
        Prediction prediction = sizer.prediction();
        assertThat(prediction.requestedBytes()).isEqualTo(200L * BLOCK);
        assertThat(prediction.hitBytes().get(2)).isEqualTo(200L * BLOCK);

        for (int block = 1000; block < 1100; block++) {
            request(sizer, block, BLOCK, false);
        }
        prediction = sizer.prediction();
        assertThat(prediction.requestedBytes()).isEqualTo(300L * BLOCK);
        assertThat(prediction.hitBytes().get(2)).isEqualTo(200L * BLOCK);
    }

    @Test
    void oldRequestsAreForgotten()
    {
        CacheSizer sizer = sizer(1000);
        for (int block = 0; block < 100; block++) {
            request(sizer, block);
        }
        clock.millis += Duration.ofHours(25).toMillis();
        for (int block = 0; block < 100; block++) {
            request(sizer, block);
        }
        assertThat(sizer.prediction().requestedBytes()).isEqualTo(200L * BLOCK);
        assertThat(sizer.prediction().hitBytes().get(2)).isEqualTo(100L * BLOCK);

        clock.millis += Duration.ofHours(25).toMillis();
        // all of them hits, since what the models have is not forgotten
        assertThat(sizer.prediction().requestedBytes()).isEqualTo(100L * BLOCK);
        assertThat(sizer.prediction().hitBytes().get(2)).isEqualTo(100L * BLOCK);

        clock.millis += Duration.ofHours(50).toMillis();
        assertThat(sizer.prediction().requestedBytes()).isZero();
        assertThat(sizer.prediction().hitBytes()).containsOnly(0L);
    }

    @Test
    void anotherCapacityBeginsAnew()
    {
        CacheSizer sizer = sizer(1000);
        request(sizer, 1);
        sizer.setCapacity(1001L * BLOCK);
        assertThat(sizer.prediction().capacityBytes()).isEqualTo(1000L * BLOCK);
        assertThat(sizer.prediction().requestedBytes()).isEqualTo(BLOCK);

        sizer.setCapacity(2000L * BLOCK);
        assertThat(sizer.prediction().capacityBytes()).isEqualTo(2000L * BLOCK);
        assertThat(sizer.prediction().requestedBytes()).isZero();
    }
}
