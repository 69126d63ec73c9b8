package io.cachedhive.store.policy;

import java.util.Arrays;

import static java.util.Objects.requireNonNull;

/**
 * Finds how large the window should be, by playing a sample of the requests through small models of the cache that differ in nothing else (Waldspurger
 * and others, "Cache modeling and optimization using miniature simulations", USENIX ATC 2017). A model sees the blocks of a fixed share of all digests
 * and has that share of the places, at most {@value #MAX_MODEL_BLOCKS}, whatever the size of the cache. Models see the same requests at the
 * same time, so that a change of the queries does not look like an effect of the window, as it does to a search that tries one size after the other.
 *
 * <p>It begins as an LRU, which nothing beats when only what is new counts, and leaves that as soon as the smallest window is ahead. From then on a
 * change has to pay: a window is changed for one that would have had so many more hits, since it was last behind, that the cache could have been filled
 * with them {@value #GAIN_FOR_CHANGE} times, or that was ahead in {@value #ROUNDS_AHEAD} rounds without exception. (What queries do is not independent from
 * one moment to the next: a table that is scanned twice favours a large window for as long as that takes. Whoever follows loses twice.)
 */
final class AdaptiveWindow
{
    private static final double[] SHARES = {0.01, 0.1, 0.3, 0.6, 1};
    private static final int SMALLEST = 0;
    private static final int EVERYTHING = SHARES.length - 1;

    private static final int MAX_MODEL_BLOCKS = 1024;
    private static final int MIN_MODEL_BLOCKS = 16;
    private static final int ROUNDS_PER_MODEL = 4;
    // until a cache has been filled and asked as often again, every choice looks good that prefers what is new
    private static final int MIN_ROUNDS = 2 * ROUNDS_PER_MODEL;
    private static final double GAIN_FOR_FIRST_CHANGE = 0.02;
    private static final int GAIN_FOR_CHANGE = 4;
    private static final int ROUNDS_AHEAD = 16;
    private static final double GAIN_AHEAD = 0.1;
    // capacities are told often, and change by little
    private static final int CAPACITY_STEP_SHARE = 16;

    private final FrequencySketch sketch;
    // null where everything is let in
    private final FilterTrial filter;
    private final WindowModel[] models = new WindowModel[SHARES.length];
    // of each model, in comparison with the chosen one: since it was last behind
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
     * @param filter also whether less could be let in
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
     * @param count of blocks that the cache has room for
     */
    void setCapacity(int count)
    {
        if (models[0] != null && Math.abs(count - capacity) <= capacity / CAPACITY_STEP_SHARE) {
            return;
        }
        if (count > capacity && !changed) {
            // what was seen of a cache that is being filled tells nothing
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
     * @return whether the share is another now
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
     * The number of the window that is chosen, for {@link #restore}.
     */
    int chosen()
    {
        return chosen;
    }

    /**
     * Goes on with what an earlier run had found out.
     *
     * @param model what {@link #chosen} was then; others are passed over
     */
    void restore(int model, boolean filters)
    {
        if (model < 0 || model >= EVERYTHING) {
            // it would begin like that
            return;
        }
        choose(model);
        if (filter != null) {
            filter.restore(filters);
        }
    }

    /**
     * Whether it costs no hits to let in only what would stay.
     */
    boolean filters()
    {
        return filter != null && filter.pays();
    }

    /**
     * Of the cache that the window should have.
     */
    double share()
    {
        return SHARES[chosen];
    }
}
