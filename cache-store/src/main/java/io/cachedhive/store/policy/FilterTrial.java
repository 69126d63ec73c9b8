package io.cachedhive.store.policy;

/**
 * Finds whether it would cost hits to let only those blocks in that would stay, by playing the requests that {@link AdaptiveWindow} samples through one
 * more model, with the chosen window and the filter. What is refused is asked for once more, and is in no window meanwhile; what is
 * saved is the writing of all that leaves again unused. Which of the two weighs more is a matter of the queries.
 */
final class FilterTrial
{
    private static final int MIN_ROUNDS = 4;
    // of the requests
    private static final double TOLERATED_LOSS = 0.001;

    private final WindowModel model;
    // what was lost lately ends it; what was lost before then keeps it from beginning again at once
    private final Balance lately = new Balance(16);
    private final Balance longer = new Balance(64);
    private int hits;
    private int rounds;
    private boolean pays;

    /**
     * Of the hits with the filter against those without, where rounds count less the longer they are ago.
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
     * The window is another now: what was found out counts no more.
     */
    void setShare(double share)
    {
        model.setShare(share);
        restore(false);
    }

    /**
     * Goes on with what an earlier run had found out.
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
     * @param roundHits of the same requests without the filter
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
