package io.cachedhive.worker.ring;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;

import java.util.List;

/**
 * Which part of a table's quota is a worker's: as much as of the chunks. Reckoned here and not by readers, so that a quota is divided anew when the ring
 * changes, whether the table is read or not.
 */
public final class RingShare
{
    private RingShare() {}

    /**
     * By the newest ring that has the worker: one that leaves, or that a coordinator lost sight of for a moment, keeps what it has until somebody else took it.
     *
     * @return above 0 and at most 1; 1 without such a ring, when every worker is alone
     */
    public static double of(List<PublishedRing> newestFirst, CacheWorkerId worker)
    {
        for (PublishedRing ring : newestFirst) {
            double share = ring.ring().share(worker);
            if (share > 0) {
                return Math.min(share, 1);
            }
        }
        return 1;
    }
}
