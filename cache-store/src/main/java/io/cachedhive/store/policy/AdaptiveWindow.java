package io.cachedhive.store.policy;

import java.util.Arrays;

import static java.util.Objects.requireNonNull;

/**
 * Chooses the size of the window by running a sample of the requests through small cache models that differ only in
 * their window (Waldspurger et al., "Cache modeling and optimization using miniature simulations", USENIX ATC 2017). A
 * model has a fixed fraction of all digests and of the capacity, at most {@value #MAX_MODEL_BLOCKS} blocks. All models
 * see the same requests at the same time. So a change of the workload does not look like an effect of the window, as it
 * does in a sequential search.
 *
 * <p>The initial window makes the cache an LRU, which is optimal while only new blocks count. The first change is to
 * the smallest window, as soon as it is ahead. Each later change needs evidence since the new window was last behind:
 * either enough additional hits to fill the cache {@value #GAIN_FOR_CHANGE} times, or a lead in {@value #ROUNDS_AHEAD}
 * consecutive rounds. The reason is that workloads are correlated over time: a table scanned twice favors a large
 * window for just that time, and a cache that followed would lose twice.
 */
final class AdaptiveWindow
{
    private static final double[] SHARES = {0.01, 0.1, 0.3, 0.6, 1};
    private static final int SMALLEST = 0;
    private static final int EVERYTHING = SHARES.length - 1;

    private static final int MAX_MODEL_BLOCKS = 1024;
    private static final int MIN_MODEL_BLOCKS = 16;
    private static final int ROUNDS_PER_MODEL = 4;
    // until a cache is full and got as many requests again, any choice that prefers new blocks looks good
    private static final int MIN_ROUNDS = 2 * ROUNDS_PER_MODEL;
    private static final double GAIN_FOR_FIRST_CHANGE = 0.02;
    private static final int GAIN_FOR_CHANGE = 4;
    private static final int ROUNDS_AHEAD = 16;
    private static final double GAIN_AHEAD = 0.1;
    // ignores smaller changes of the capacity, which are frequent
    private static final int CAPACITY_STEP_SHARE = 16;

    private final FrequencySketch sketch;
    // null if all blocks are admitted
    private final FilterTrial filter;
    private final WindowModel[] models = new WindowModel[SHARES.length];
    // of each model against the chosen one, since it was last behind
    private final double[] gains = new double[SHARES.length];
    private final int[] roundsAhead = new int[SHARES.length];
    private final int[] hits = new int[SHARES.length];
    private int sampleMask;
    private int modelBlocks;
    private int capacity;
    private int requests;
    private int rounds;
    private int chosen = EVERYTHING;
    private boolean changed;

    /**
     * @param filter whether to evaluate an admission filter too
     */
    AdaptiveWindow(FrequencySketch sketch, boolean filter)
    {
        this.sketch = requireNonNull(sketch, "sketch is null");
        this.filter = filter ? new FilterTrial(sketch, SHARES[EVERYTHING]) : null;
    }

    static boolean isSampled(long digestHigh, int sampleMask)
    {
        // bits that the sketch does not use
        return ((int) (digestHigh >>> 40) & sampleMask) == 0;
    }

    /**
     * @param count number of blocks that fit into the cache
     */
    void setCapacity(int count)
    {
        if (models[0] != null && Math.abs(count - capacity) <= capacity / CAPACITY_STEP_SHARE) {
            return;
        }
        if (count > capacity && !changed) {
            // measurements of a cache that is being filled are meaningless
            rounds = 0;
            Arrays.fill(gains, 0);
            Arrays.fill(roundsAhead, 0);
        }
        capacity = count;
        int rate = Integer.highestOneBit(Math.max(1, Math.ceilDiv(count, MAX_MODEL_BLOCKS) * 2 - 1));
        boolean fewer = rate - 1 > sampleMask;
        sampleMask = rate - 1;
        modelBlocks = Math.max(MIN_MODEL_BLOCKS, count / rate);
        for (int i = 0; i < models.length; i++) {
            if (models[i] == null) {
                models[i] = new WindowModel(sketch, SHARES[i], false);
            }
            if (fewer) {
                models[i].retain(sampleMask);
            }
            models[i].setCapacity(modelBlocks);
        }
        if (filter != null) {
            if (fewer) {
                filter.retain(sampleMask);
            }
            filter.setCapacity(modelBlocks);
        }
    }

    /**
     * @return whether the share changed
     */
    boolean request(long digestHigh, long digestLow)
    {
        if (models[0] == null || !isSampled(digestHigh, sampleMask)) {
            return false;
        }
        for (int i = 0; i < models.length; i++) {
            if (models[i].request(digestHigh, digestLow)) {
                hits[i]++;
            }
        }
        if (filter != null) {
            filter.request(digestHigh, digestLow);
        }
        requests++;
        if (requests < modelBlocks / ROUNDS_PER_MODEL) {
            return false;
        }
        if (filter != null) {
            filter.endRound(requests, hits[chosen]);
        }
        requests = 0;
        return endRound();
    }

    private boolean endRound()
    {
        int best = SMALLEST;
        for (int i = 0; i < models.length; i++) {
            int ahead = hits[i] - hits[chosen];
            gains[i] = Math.max(0, gains[i] + ahead);
            roundsAhead[i] = ahead > 0 ? roundsAhead[i] + 1 : 0;
            if (gains[i] > gains[best]) {
                best = i;
            }
        }
        Arrays.fill(hits, 0);
        rounds++;
        boolean pays = gains[best] > GAIN_FOR_CHANGE * modelBlocks
                || (roundsAhead[best] >= ROUNDS_AHEAD && gains[best] > GAIN_AHEAD * modelBlocks);
        if (!changed) {
            if (rounds < MIN_ROUNDS) {
                return false;
            }
            if (gains[SMALLEST] > GAIN_FOR_FIRST_CHANGE * modelBlocks) {
                best = SMALLEST;
                pays = true;
            }
        }
        if (!pays) {
            return false;
        }
        choose(best);
        return true;
    }

    private void choose(int model)
    {
        changed = true;
        chosen = model;
        Arrays.fill(gains, 0);
        Arrays.fill(roundsAhead, 0);
        if (filter != null) {
            filter.setShare(SHARES[chosen]);
        }
    }

    /**
     * Returns the number of the chosen window, for {@link #restore}.
     */
    int chosen()
    {
        return chosen;
    }

    /**
     * Restores the choice of an earlier run.
     *
     * @param model {@link #chosen} of that run; ignored if invalid
     */
    void restore(int model, boolean filters)
    {
        if (model < 0 || model >= EVERYTHING) {
            // the initial choice
            return;
        }
        choose(model);
        if (filter != null) {
            filter.restore(filters);
        }
    }

    /**
     * Returns whether the admission filter costs no hits.
     */
    boolean filters()
    {
        return filter != null && filter.pays();
    }

    /**
     * Returns the window's fraction of the cache.
     */
    double share()
    {
        return SHARES[chosen];
    }
}
