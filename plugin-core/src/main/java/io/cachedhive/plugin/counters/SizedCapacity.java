package io.cachedhive.plugin.counters;

import com.google.common.collect.ImmutableList;

import java.util.List;
import java.util.Optional;

/**
 * What a cache of some capacity would have had of the bytes that queries asked for.
 *
 * @param percent of the capacity that there is
 * @param presentCapacityBytes that there is
 * @param hitBytes of the requested
 * @param largerHitBytes what twice, four times, ... as much capacity would have had, as far as it is known
 */
public record SizedCapacity(int percent, long presentCapacityBytes, long requestedBytes, long distinctBytes, long hitBytes, List<Long> largerHitBytes, long nodes)
{
    private static final double LEAST_HIT_RATE = 0.2;
    private static final double GAIN_PER_DOUBLING = 0.05;
    private static final int MAX_DOUBLINGS = 2;
    // before that much was asked for again, most of what is missed is missed by any cache
    private static final int TIMES_READ = 4;

    public SizedCapacity
    {
        largerHitBytes = ImmutableList.copyOf(largerHitBytes);
    }

    public enum Verdict
    {
        UNSUITABLE("unsuitable"),
        TOO_SMALL("too small"),
        RIGHT_SIZED("right-sized");

        private final String words;

        Verdict(String words)
        {
            this.words = words;
        }

        public String words()
        {
            return words;
        }
    }

    public long capacityBytes()
    {
        return (long) (presentCapacityBytes * (percent / 100.0));
    }

    public Optional<Double> hitRate()
    {
        return requestedBytes == 0 ? Optional.empty() : Optional.of(rate(hitBytes));
    }

    private double rate(long bytes)
    {
        return (double) bytes / requestedBytes;
    }

    /**
     * Of this capacity.
     *
     * @return empty if less was read than the present capacity, and less than four times what different blocks there are
     */
    public Optional<Verdict> verdict()
    {
        if (requestedBytes == 0 || (requestedBytes < presentCapacityBytes && requestedBytes < TIMES_READ * distinctBytes)) {
            return Optional.empty();
        }
        double best = rate(hitBytes);
        for (long larger : largerHitBytes) {
            best = Math.max(best, rate(larger));
        }
        if (best < LEAST_HIT_RATE) {
            return Optional.of(Verdict.UNSUITABLE);
        }
        for (int doublings = 1; doublings <= Math.min(MAX_DOUBLINGS, largerHitBytes.size()); doublings++) {
            if (rate(largerHitBytes.get(doublings - 1)) - rate(hitBytes) >= GAIN_PER_DOUBLING * doublings) {
                return Optional.of(Verdict.TOO_SMALL);
            }
        }
        return Optional.of(Verdict.RIGHT_SIZED);
    }
}
