package io.cachedhive.worker.ring;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.PublishedRing;

import java.util.List;

/**
 * Computes a worker's share of table quotas, which equals its share of the chunks. The worker computes it independently
 * of readers, so that quotas are divided again when the ring changes, even if the table is not read.
 */
public final class RingShare
{
    private RingShare() {}

    /**
     * Returns the share on the newest ring that contains the worker. A worker that is draining, or that the coordinator
     * could temporarily not reach, therefore keeps its share until other workers have received its blocks.
     *
     * @return above 0 and at most 1; 1 if no ring contains the worker
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
