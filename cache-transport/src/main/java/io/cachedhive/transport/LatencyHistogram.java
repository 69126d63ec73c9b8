package io.cachedhive.transport;

import com.google.errorprone.annotations.concurrent.GuardedBy;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * How long something took lately, with an error of an eighth at most. Older values count less: all counts are halved whenever there are
 * {@link #HALVED_AT} of them. Safe for use by any number of threads.
 */
public final class LatencyHistogram
{
    static final int HALVED_AT = 2048;

    // each power of two has 8 buckets
    private static final int BITS = 3;
    private static final int PER_OCTAVE = 1 << BITS;
    // from a microsecond on
    private static final int FIRST_OCTAVE = 10;
    private static final int OCTAVES = 28;

    @GuardedBy("this")
    private final int[] counts = new int[OCTAVES * PER_OCTAVE];
    @GuardedBy("this")
    private int total;

    public synchronized void add(long nanos)
    {
        counts[bucket(nanos)]++;
        total++;
        if (total >= HALVED_AT) {
            total = 0;
            for (int i = 0; i < counts.length; i++) {
                counts[i] /= 2;
                total += counts[i];
            }
        }
    }

    private static int bucket(long nanos)
    {
        int octave = 63 - Long.numberOfLeadingZeros(Math.max(1, nanos)) - FIRST_OCTAVE;
        if (octave < 0) {
            return 0;
        }
        if (octave >= OCTAVES) {
            return OCTAVES * PER_OCTAVE - 1;
        }
        int part = (int) (nanos >>> (octave + FIRST_OCTAVE - BITS)) & (PER_OCTAVE - 1);
        return octave * PER_OCTAVE + part;
    }

    private static long upperEnd(int bucket)
    {
        return (long) (PER_OCTAVE + bucket % PER_OCTAVE + 1) << (bucket / PER_OCTAVE + FIRST_OCTAVE - BITS);
    }

    /**
     * In how many nanoseconds that share of the values was done, rounded up.
     *
     * @param share from 0 to 1
     * @return empty without values
     */
    public synchronized OptionalLong percentile(double share)
    {
        if (total == 0) {
            return OptionalLong.empty();
        }
        long rank = Math.max(1, (long) Math.ceil(share * total));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank) {
                return OptionalLong.of(upperEnd(i));
            }
        }
        throw new IllegalStateException("%s values are counted, and there are %s".formatted(total, seen));
    }

    @Override
    public String toString()
    {
        return "p50 %s, p95 %s, p99 %s".formatted(text(0.5), text(0.95), text(0.99));
    }

    private String text(double share)
    {
        OptionalLong nanos = percentile(share);
        return nanos.isEmpty() ? "-" : Duration.ofNanos(nanos.getAsLong()).toString();
    }
}
