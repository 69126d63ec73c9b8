package io.cachedhive.store.policy;

import io.cachedhive.protocol.file.Digest128;

import java.util.Random;

import static io.cachedhive.store.policy.TraceSimulator.digest;
import static io.cachedhive.store.policy.TraceSimulator.percent;

/**
 * The sizes of the blocks that queries read, before and after they change: for each size its share of the requests, and how many such blocks there
 * are.
 */
public enum ChangeOfSizes
{
    LARGE_TO_SMALL(new int[] {65536, 4000}, new double[][] {{1, 0}, {0, 1}}, new int[] {2000, 20_000}),
    SMALL_TO_LARGE(new int[] {65536, 4000}, new double[][] {{0, 1}, {1, 0}}, new int[] {2000, 20_000}),
    MOSTLY_LARGE_TO_MOSTLY_SMALL(new int[] {65536, 4000}, new double[][] {{0.9, 0.1}, {0.1, 0.9}}, new int[] {2000, 10_000}),
    MOSTLY_SMALL_TO_MOSTLY_LARGE(new int[] {65536, 4000}, new double[][] {{0.1, 0.9}, {0.9, 0.1}}, new int[] {2000, 10_000}),
    THREE_SIZES(new int[] {65536, 20_000, 4000}, new double[][] {{0.6, 0.3, 0.1}, {0.1, 0.1, 0.8}}, new int[] {2000, 2000, 10_000}),
    NEAR_SIZES(new int[] {20_000, 33_000}, new double[][] {{1, 0}, {0, 1}}, new int[] {5000, 5000});

    private static final long SEED = 7;
    private static final int REQUESTS = 100_000;

    private final int[] sizes;
    private final double[][] shares;
    private final int[] blocks;

    /**
     * Room for some bytes.
     */
    public interface SizedCache
    {
        /**
         * @return whether it was there
         */
        boolean request(Digest128 digest, int length);
    }

    ChangeOfSizes(int[] sizes, double[][] shares, int[] blocks)
    {
        this.sizes = sizes;
        this.shares = shares;
        this.blocks = blocks;
    }

    /**
     * What the cache answers of the second half of the requests after the change.
     *
     * @param cache a new one
     * @param withPast whether it sees the requests before the change
     */
    public double percentOfBytesHit(boolean withPast, SizedCache cache)
    {
        long hitBytes = 0;
        long bytes = 0;
        for (int phase = withPast ? 0 : 1; phase < 2; phase++) {
            Random random = new Random(SEED + phase);
            long[][] traces = new long[sizes.length][];
            for (int i = 0; i < traces.length; i++) {
                traces[i] = BlockTraces.zipf(random, blocks[i], 0.9, REQUESTS);
            }
            for (int i = 0; i < REQUESTS; i++) {
                double choice = random.nextDouble();
                int kind = 0;
                while (kind < traces.length - 1 && choice >= shares[phase][kind]) {
                    choice -= shares[phase][kind];
                    kind++;
                }
                int size = sizes[kind];
                boolean hit = cache.request(digest((long) size << 32 | traces[kind][i]), size);
                if (phase == 1 && i >= REQUESTS / 2) {
                    bytes += size;
                    hitBytes += hit ? size : 0;
                }
            }
        }
        return percent(hitBytes, bytes);
    }
}
