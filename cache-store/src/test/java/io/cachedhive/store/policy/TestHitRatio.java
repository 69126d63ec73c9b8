package io.cachedhive.store.policy;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.parallel.ExecutionMode.CONCURRENT;

/**
 * Holds the policy against Caffeine's W-TinyLFU and an LRU on traces of several kinds, and prints what it finds. The mean over the seeds counts, since
 * where the requests are not independent (scans of many tables) one trace differs from the next by several points for any policy; the worst of
 * them is printed as well.
 */
@Tag("slow")
@Execution(CONCURRENT)
class TestHitRatio
{
    // of the recorded trace, where the mean is at most 0.75 above the policy and one figure's deviation is 0.33: so the limit is five deviations of their mean away
    private static final int CAFFEINE_RUNS_OF_ONE_SEED = 50;

    @ParameterizedTest
    @EnumSource(KindOfTrace.class)
    void notBelowCaffeineAndNotBelowLru(KindOfTrace trace)
    {
        double[] overCaffeine = new double[trace.seeds().length];
        double[] overLru = new double[trace.seeds().length];
        double policySum = 0;
        for (int i = 0; i < trace.seeds().length; i++) {
            long[] blocks = trace.blocks(trace.seeds()[i]);
            double policy = TraceSimulator.policy(blocks, trace.capacity());
            policySum += policy;
            // whose admission lets some in by chance: what has one seed has its mean from more runs
            overCaffeine[i] = policy - IntStream.range(0, trace.seeds().length == 1 ? CAFFEINE_RUNS_OF_ONE_SEED : 1)
                    .mapToDouble(_ -> TraceSimulator.caffeine(blocks, trace.capacity()))
                    .average()
                    .orElseThrow();
            overLru[i] = policy - TraceSimulator.lru(blocks, trace.capacity());
        }
        System.out.printf("%-33s %4d blocks, seeds %s: %6.2f %%, over Caffeine %s, over LRU %s%n",
                trace,
                trace.capacity(),
                Arrays.toString(trace.seeds()),
                policySum / trace.seeds().length,
                format(overCaffeine),
                format(overLru));
        assertThat(Arrays.stream(overCaffeine).average().orElseThrow()).isGreaterThan(-1);
        assertThat(Arrays.stream(overLru).min().orElseThrow()).isGreaterThanOrEqualTo(0);
    }

    private static String format(double[] values)
    {
        return "%.2f (%.2f to %.2f)".formatted(
                Arrays.stream(values).average().orElseThrow(),
                Arrays.stream(values).min().orElseThrow(),
                Arrays.stream(values).max().orElseThrow());
    }
}
