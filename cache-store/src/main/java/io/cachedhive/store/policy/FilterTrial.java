package io.cachedhive.store.policy;

/**
 * Evaluates whether an admission filter costs hits, by running the sample of {@link AdaptiveWindow} through one more
 * model with the chosen window and the filter. The filter costs hits, because a rejected block is requested again
 * without having been in the window. It saves the writes of blocks that are evicted unused. The workload determines
 * which effect prevails.
 */
final class FilterTrial
{
    private static final int MIN_ROUNDS = 4;
    // fraction of the requests
    private static final double TOLERATED_LOSS = 0.001;

    private final WindowModel model;
    // a recent loss disables the filter, and an older loss delays its return
    private final Balance lately = new Balance(16);
    private final Balance longer = new Balance(64);
    private int hits;
    private int rounds;
    private boolean pays;

    /**
     * Weighted sum of the hits with the filter minus those without, in which older rounds count less.
     */
    private static final class Balance
    {
        private final double kept;
        private double ahead;
        private double requests;

        Balance(int rounds)
        {
            kept = 1 - 1.0 / rounds;
        }

        void clear()
        {
            ahead = 0;
            requests = 0;
        }

        void add(int roundAhead, int roundRequests)
        {
            ahead = kept * ahead + roundAhead;
            requests = kept * requests + roundRequests;
        }

        boolean isGood()
        {
            return ahead >= -TOLERATED_LOSS * requests;
        }
    }

    FilterTrial(FrequencySketch sketch, double share)
    {
        model = new WindowModel(sketch, share, true);
    }

    void setCapacity(int count)
    {
        model.setCapacity(count);
    }

    void retain(int sampleMask)
    {
        model.retain(sampleMask);
    }

    /**
     * Sets the window and discards the result for the old one.
     */
    void setShare(double share)
    {
        model.setShare(share);
        restore(false);
    }

    /**
     * Restores the result of an earlier run.
     */
    void restore(boolean paid)
    {
        pays = paid;
        lately.clear();
        longer.clear();
        rounds = 0;
    }

    void request(long digestHigh, long digestLow)
    {
        if (model.request(digestHigh, digestLow)) {
            hits++;
        }
    }

    /**
     * @param roundHits hits of the same requests without the filter
     */
    void endRound(int roundRequests, int roundHits)
    {
        lately.add(hits - roundHits, roundRequests);
        longer.add(hits - roundHits, roundRequests);
        hits = 0;
        rounds++;
        if (rounds >= MIN_ROUNDS) {
            pays = lately.isGood() && longer.isGood();
        }
    }

    boolean pays()
    {
        return pays;
    }
}
