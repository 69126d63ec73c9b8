package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.policy.BlockTraces;
import io.cachedhive.store.policy.KindOfTrace;
import io.cachedhive.store.policy.TraceSimulator;
import io.cachedhive.store.sizing.CacheSizer;
import io.cachedhive.store.sizing.CacheSizer.Prediction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;
import static org.junit.jupiter.params.provider.EnumSource.Mode.EXCLUDE;

/**
 * Holds what is predicted for half, once and twice the capacity against directories of the SSD tier of these capacities, or the policy alone, that are
 * asked for the same blocks. Prints what it finds.
 */
@Tag("slow")
@Execution(CONCURRENT)
class TestPredictedHitRate
{
    private static final double MAX_POINTS = 3;
    private static final List<Integer> MEASURED_PERCENTS = List.of(50, 100, 200);

    private interface Measurement
    {
        /**
         * @return hits in percent of the requests
         */
        double measure(int capacity)
                throws Exception;
    }

    @ParameterizedTest
    @EnumSource(value = KindOfTrace.class, names = {"ZIPF_08", "ZIPF_12", "STAR_SCHEMA", "TPCDS_MIDDLE_CACHE"})
    void directory(KindOfTrace trace)
            throws Exception
    {
        compareDirectory(trace);
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @EnumSource(value = KindOfTrace.class, mode = EXCLUDE, names = {"ZIPF_08", "ZIPF_12", "STAR_SCHEMA", "TPCDS_MIDDLE_CACHE"})
    void directoryOnOtherTraces(KindOfTrace trace)
            throws Exception
    {
        compareDirectory(trace);
    }

    private static void compareDirectory(KindOfTrace trace)
            throws Exception
    {
        long[] blocks = trace.blocks(trace.seeds()[0]);
        compare(trace.toString(), blocks, trace.capacity(), true, capacity -> {
            try (TracedDirectory directory = new TracedDirectory(capacity)) {
                return directory.play(blocks);
            }
        });
    }

    /**
     * As RAM without an SSD, where nothing is kept out.
     */
    @ParameterizedTest
    @EnumSource(value = KindOfTrace.class, names = {"ZIPF_08", "LOOP_TWICE_AS_LONG", "SCANS_OF_MANY_TABLES_LARGE_CACHE", "TPCDS_MIDDLE_CACHE"})
    void policy(KindOfTrace trace)
            throws Exception
    {
        long[] blocks = trace.blocks(trace.seeds()[0]);
        compare(trace.toString(), blocks, trace.capacity(), false, capacity -> TraceSimulator.policy(blocks, capacity));
    }

    /**
     * Of which one block in sixteen is looked at.
     */
    @Test
    void sampledZipf()
            throws Exception
    {
        long[] blocks = BlockTraces.zipf(new Random(7), 400_000, 0.8, 1_500_000);
        compare("Zipf 0.8 of 400 000 blocks", blocks, 32_768, false, capacity -> TraceSimulator.policy(blocks, capacity));
    }

    /**
     * Whose few most popular blocks may be among those that are looked at or not.
     */
    @Test
    void sampledSteepZipf()
            throws Exception
    {
        long[] blocks = BlockTraces.zipf(new Random(99), 400_000, 1.2, 1_500_000);
        compare("Zipf 1.2 of 400 000 blocks", blocks, 32_768, false, capacity -> TraceSimulator.policy(blocks, capacity));
    }

    /**
     * In smaller blocks, of which one in four is looked at.
     */
    @Test
    void sampledTpcds()
            throws Exception
    {
        long[] blocks = BlockTraces.tpcds(4 << 10);
        compare("TPC-DS, recorded, 4 KiB", blocks, 8192, false, capacity -> TraceSimulator.policy(blocks, capacity));
    }

    private static void compare(String name, long[] blocks, int capacity, boolean filter, Measurement measurement)
            throws Exception
    {
        CacheSizer sizer = new CacheSizer((long) capacity * TracedDirectory.BLOCK, TracedDirectory.BLOCK, filter, new TracedDirectory.ManualClock());
        long start = System.nanoTime();
        for (long block : blocks) {
            Digest128 digest = TraceSimulator.digest(block);
            sizer.request(digest.high(), digest.low(), TracedDirectory.BLOCK, () -> false);
        }
        long nanos = System.nanoTime() - start;
        Prediction prediction = sizer.prediction();
        assertThat(prediction.requestedBytes()).isEqualTo((long) blocks.length * TracedDirectory.BLOCK);

        List<String> printed = new ArrayList<>();
        List<Double> errors = new ArrayList<>();
        for (int percent : MEASURED_PERCENTS) {
            double predicted = TraceSimulator.percent(prediction.hitBytes().get(CacheSizer.PERCENTS.indexOf(percent)), prediction.requestedBytes());
            double measured = measurement.measure(capacity * percent / 100);
            errors.add(predicted - measured);
            printed.add("%.2f instead of %.2f (%+.2f)".formatted(predicted, measured, predicted - measured));
        }
        System.out.println("%-33s %5d blocks%s: %s; %d ns a request".formatted(name, capacity, filter ? ", with filter" : "", printed, nanos / blocks.length));
        assertThat(errors).as(name).allSatisfy(error -> assertThat(Math.abs(error)).isLessThanOrEqualTo(MAX_POINTS));
    }
}
