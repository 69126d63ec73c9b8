package io.cachedhive.store.ssd;

import io.cachedhive.store.policy.ChangeOfSizes;
import io.cachedhive.store.policy.KindOfTrace;
import io.cachedhive.store.policy.TraceSimulator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;
import static org.junit.jupiter.params.provider.EnumSource.Mode.EXCLUDE;

/**
 * Plays traces of block requests through a directory of the SSD tier, with its filter in front, through Caffeine's W-TinyLFU and through an LRU of as many
 * blocks; changes the sizes of the blocks on it; and restarts it. Prints what it finds.
 */
@Tag("slow")
@Execution(CONCURRENT)
class TestSsdHitRatio
{
    @ParameterizedTest
    @EnumSource(
            value = KindOfTrace.class,
            names = {"ZIPF_08", "ZIPF_12", "LOOP_A_QUARTER_TOO_LONG", "HOT_SET_OF_HALF_AND_SCANS", "STAR_SCHEMA", "NEWEST_DAYS", "TPCDS_MIDDLE_CACHE"})
    void notBelowCaffeineAndAboveLru(KindOfTrace trace)
            throws Exception
    {
        compare(trace);
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @EnumSource(
            value = KindOfTrace.class,
            mode = EXCLUDE,
            names = {"ZIPF_08", "ZIPF_12", "LOOP_A_QUARTER_TOO_LONG", "HOT_SET_OF_HALF_AND_SCANS", "STAR_SCHEMA", "NEWEST_DAYS", "TPCDS_MIDDLE_CACHE"})
    void otherTracesNotBelowCaffeineAndAboveLru(KindOfTrace trace)
            throws Exception
    {
        compare(trace);
    }

    private static void compare(KindOfTrace trace)
            throws Exception
    {
        int count = trace.seeds().length;
        double[] overCaffeine = new double[count];
        double[] overLru = new double[count];
        double[] overSmallerLru = new double[count];
        double[] overAll = new double[count];
        double[] written = new double[count];
        double hitSum = 0;
        for (int i = 0; i < count; i++) {
            long[] blocks = trace.blocks(trace.seeds()[i]);
            try (TracedDirectory directory = new TracedDirectory(trace.capacity())) {
                double hits = directory.play(blocks);
                hitSum += hits;
                written[i] = directory.percentWritten();
                overCaffeine[i] = hits - TraceSimulator.caffeine(blocks, directory.places());
                overLru[i] = hits - TraceSimulator.lru(blocks, directory.places());
                overSmallerLru[i] = hits - TraceSimulator.lru(blocks, directory.places() - directory.places() / 32);
                overAll[i] = hits - TraceSimulator.policy(blocks, directory.places());
                directory.checkInvariants();
            }
        }
        System.out.printf("%-33s %4d blocks: %6.2f %%, over Caffeine %s, over LRU %s, over the policy without filter %s; %s %% of the misses written%n",
                trace,
                trace.capacity(),
                hitSum / count,
                format(overCaffeine),
                format(overLru),
                format(overAll),
                format(written));
        assertThat(Arrays.stream(overCaffeine).average().orElseThrow()).isGreaterThan(-1);
        // nothing beats an LRU where only what is new counts, and it takes a while to see that
        assertThat(Arrays.stream(overSmallerLru).min().orElseThrow()).isGreaterThan(0);
    }

    private static String format(double[] values)
    {
        return "%.2f (%.2f to %.2f)".formatted(
                Arrays.stream(values).average().orElseThrow(),
                Arrays.stream(values).min().orElseThrow(),
                Arrays.stream(values).max().orElseThrow());
    }

    @ParameterizedTest
    @EnumSource(ChangeOfSizes.class)
    void slabsFollowTheSizesOfBlocks(ChangeOfSizes change)
            throws Exception
    {
        double changed;
        try (TracedDirectory directory = new TracedDirectory(256)) {
            changed = change.percentOfBytesHit(true, directory::request);
            directory.checkInvariants();
        }
        double fresh;
        try (TracedDirectory directory = new TracedDirectory(256)) {
            fresh = change.percentOfBytesHit(false, directory::request);
        }
        System.out.printf("%-30s bytes hit: %6.2f %% after the change, %6.2f %% in a new directory%n", change, changed, fresh);
        assertThat(changed).isGreaterThan(fresh - 2);
    }

    @ParameterizedTest
    @EnumSource(value = KindOfTrace.class, names = {"ZIPF_08", "HOT_SET_OF_HALF_AND_SCANS", "LOOP_A_QUARTER_TOO_LONG", "STAR_SCHEMA", "TPCDS_MIDDLE_CACHE"})
    void goesOnAfterARestart(KindOfTrace trace)
            throws Exception
    {
        long[] blocks = trace.blocks(trace.seeds()[0]);
        long[] before = Arrays.copyOf(blocks, blocks.length / 2);
        long[] after = Arrays.copyOfRange(blocks, before.length, before.length + 4 * trace.capacity());
        double uninterrupted;
        try (TracedDirectory directory = new TracedDirectory(trace.capacity())) {
            directory.play(before);
            uninterrupted = directory.play(after);
        }
        for (boolean clean : new boolean[] {true, false}) {
            try (TracedDirectory directory = new TracedDirectory(trace.capacity())) {
                directory.play(before);
                directory.restart(clean);
                directory.checkInvariants();
                double restarted = directory.play(after);
                System.out.printf("%-33s %6.2f %% of the requests after a restart (%s), %6.2f %% without%n", trace, restarted, clean ? "clean" : "crash", uninterrupted);
                assertThat(restarted).isGreaterThan(uninterrupted - 2.5);
            }
        }
    }
}
