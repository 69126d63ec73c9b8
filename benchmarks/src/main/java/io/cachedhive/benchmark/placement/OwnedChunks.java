package io.cachedhive.benchmark.placement;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.RingMember;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/**
 * How many of many chunks each worker owns, and how many of them move.
 */
final class OwnedChunks
{
    // as tables have them: a few chunks of each file
    private static final int CHUNKS_OF_FILE = 4;
    private static final int PIECES = 64;

    private OwnedChunks() {}

    private static ChunkKey chunk(long seed, long number)
    {
        return new ChunkKey(new SplittableRandom(seed ^ number / CHUNKS_OF_FILE * 0x9E3779B97F4A7C15L).nextLong(), number % CHUNKS_OF_FILE);
    }

    static Map<CacheWorkerId, Integer> count(HashRing ring, long seed, int chunks)
    {
        return LongStream.range(0, PIECES).parallel()
                .mapToObj(piece -> {
                    Map<CacheWorkerId, Integer> counts = new HashMap<>();
                    for (long number = chunks * piece / PIECES; number < chunks * (piece + 1) / PIECES; number++) {
                        counts.merge(ring.owner(chunk(seed, number)).orElseThrow(), 1, Integer::sum);
                    }
                    return counts;
                })
                .reduce(new HashMap<>(), (left, right) -> {
                    Map<CacheWorkerId, Integer> sum = new HashMap<>(left);
                    right.forEach((worker, count) -> sum.merge(worker, count, Integer::sum));
                    return sum;
                });
    }

    /**
     * @param caused chunks whose owner left, or whose new owner joined
     * @param uncaused chunks that moved although their owners are on both rings
     */
    record Moved(int caused, int uncaused)
    {
        int all()
        {
            return caused + uncaused;
        }
    }

    static Moved moved(HashRing before, HashRing after, long seed, int chunks)
    {
        return LongStream.range(0, PIECES).parallel()
                .mapToObj(piece -> {
                    int caused = 0;
                    int uncaused = 0;
                    for (long number = chunks * piece / PIECES; number < chunks * (piece + 1) / PIECES; number++) {
                        ChunkKey chunk = chunk(seed, number);
                        CacheWorkerId from = before.owner(chunk).orElseThrow();
                        CacheWorkerId to = after.owner(chunk).orElseThrow();
                        if (!from.equals(to)) {
                            if (before.member(to).equals(after.member(to)) && after.member(from).equals(before.member(from))) {
                                uncaused++;
                            }
                            else {
                                caused++;
                            }
                        }
                    }
                    return new Moved(caused, uncaused);
                })
                .reduce(new Moved(0, 0), (left, right) -> new Moved(left.caused + right.caused, left.uncaused + right.uncaused));
    }

    /**
     * Pearson's statistic against a fair choice, as standard deviations by Wilson and Hilferty's approximation: what a fair choice exceeds
     * as often as a normal variable exceeds it.
     */
    static double chiSquareDeviations(HashRing ring, Map<CacheWorkerId, Integer> counts, int chunks)
    {
        double statistic = 0;
        for (RingMember member : ring.members()) {
            double expected = chunks * ring.share(member.id());
            double difference = counts.getOrDefault(member.id(), 0) - expected;
            statistic += difference * difference / expected;
        }
        double freedom = ring.members().size() - 1;
        double variance = 2 / (9 * freedom);
        return (Math.cbrt(statistic / freedom) - (1 - variance)) / Math.sqrt(variance);
    }

    /**
     * By how much of its share a worker owns more or less, of the worker that is furthest off.
     */
    static double largestError(HashRing ring, Map<CacheWorkerId, Integer> counts, int chunks)
    {
        List<RingMember> members = ring.members();
        return members.stream()
                .mapToDouble(member -> Math.abs(counts.getOrDefault(member.id(), 0) / (chunks * ring.share(member.id())) - 1))
                .max()
                .orElseThrow();
    }
}
