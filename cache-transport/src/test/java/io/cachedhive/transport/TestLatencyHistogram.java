package io.cachedhive.transport;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.Random;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

class TestLatencyHistogram
{
    @Test
    void testPercentiles()
    {
        long seed = Long.getLong("cachedhive.test.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        LatencyHistogram histogram = new LatencyHistogram();
        // fewer than are halved
        long[] values = new long[LatencyHistogram.HALVED_AT - 1];
        for (int i = 0; i < values.length; i++) {
            // from 20 µs to 20 s
            values[i] = (long) (MICROSECONDS.toNanos(20) * Math.pow(10, 6 * random.nextDouble()));
            histogram.add(values[i]);
        }
        Arrays.sort(values);
        for (double share : new double[] {0.01, 0.5, 0.9, 0.95, 0.99, 1}) {
            long exact = values[(int) Math.ceil(share * values.length) - 1];
            assertThat(histogram.percentile(share).orElseThrow())
                    .as("share %s", share)
                    .isBetween(exact, exact + exact / 8 + 1);
        }
    }

    @Test
    void testEmpty()
    {
        assertThat(new LatencyHistogram().percentile(0.95)).isEmpty();
        assertThat(new LatencyHistogram()).hasToString("p50 -, p95 -, p99 -");
    }

    @Test
    void testBeyondTheEnds()
    {
        LatencyHistogram histogram = new LatencyHistogram();
        histogram.add(-5);
        histogram.add(0);
        assertThat(histogram.percentile(1).orElseThrow()).isLessThanOrEqualTo(MICROSECONDS.toNanos(2));
        histogram.add(Long.MAX_VALUE);
        assertThat(histogram.percentile(1).orElseThrow()).isGreaterThan(MINUTES.toNanos(4));
    }

    @Test
    void testOldValuesFade()
    {
        LatencyHistogram histogram = new LatencyHistogram();
        for (int i = 0; i < 1000; i++) {
            histogram.add(MILLISECONDS.toNanos(100));
        }
        assertThat(histogram.percentile(0.95).orElseThrow()).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(100));
        for (int i = 0; i < 20_000; i++) {
            histogram.add(MILLISECONDS.toNanos(1));
        }
        assertThat(histogram.percentile(0.95).orElseThrow()).isLessThan(MILLISECONDS.toNanos(2));
        assertThat(histogram.percentile(1).orElseThrow()).isLessThan(MILLISECONDS.toNanos(2));
    }
}
