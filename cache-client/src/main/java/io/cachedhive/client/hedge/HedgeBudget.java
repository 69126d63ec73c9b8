package io.cachedhive.client.hedge;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Holds hedges to a hundredth of the reads, so that a cluster that is slow as a whole does not get slower by them: a token bucket, filled by reads. Begins empty.
 */
final class HedgeBudget
{
    static final int READS_PER_HEDGE = 100;
    static final int MAX_SAVED_HEDGES = 10;

    private final AtomicLong savedReads = new AtomicLong();

    void addRead()
    {
        savedReads.updateAndGet(saved -> Math.min(saved + 1, (long) MAX_SAVED_HEDGES * READS_PER_HEDGE));
    }

    boolean tryTake()
    {
        while (true) {
            long saved = savedReads.get();
            if (saved < READS_PER_HEDGE) {
                return false;
            }
            if (savedReads.compareAndSet(saved, saved - READS_PER_HEDGE)) {
                return true;
            }
        }
    }

    /**
     * A hedge that was taken did not come about.
     */
    void giveBack()
    {
        savedReads.addAndGet(READS_PER_HEDGE);
    }
}
