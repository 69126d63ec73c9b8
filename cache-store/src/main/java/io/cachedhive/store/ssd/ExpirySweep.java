package io.cachedhive.store.ssd;

import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.StoreClock;

import java.util.function.IntConsumer;

import static java.util.Objects.requireNonNull;

/**
 * Removes the expired blocks of a directory in a cyclic scan of all entries, a few at a time. Guarded by the store's
 * lock.
 */
final class ExpirySweep
{
    private final SsdIndex index;
    private final StoreClock clock;
    private final IntConsumer remover;
    private int next;

    /**
     * @param remover removes an entry from the index
     */
    ExpirySweep(SsdIndex index, StoreClock clock, IntConsumer remover)
    {
        this.index = requireNonNull(index, "index is null");
        this.clock = requireNonNull(clock, "clock is null");
        this.remover = requireNonNull(remover, "remover is null");
    }

    boolean isExpired(int entry)
    {
        return BlockTerms.isExpired(index.expirySeconds(entry), clock.currentTimeMillis());
    }

    /**
     * Scans the next entries and removes the expired ones.
     */
    void sweep(int maxCount)
    {
        long now = clock.currentTimeMillis();
        int count = Math.min(maxCount, index.limit());
        for (int i = 0; i < count; i++) {
            next = next < index.limit() ? next : 0;
            if (index.isUsed(next) && BlockTerms.isExpired(index.expirySeconds(next), now)) {
                remover.accept(next);
            }
            next++;
        }
    }
}
