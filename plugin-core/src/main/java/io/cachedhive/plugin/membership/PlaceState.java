package io.cachedhive.plugin.membership;

/**
 * What the coordinator knows of the cache worker of a place.
 */
public enum PlaceState
{
    /**
     * It answers.
     */
    ANSWERING,
    /**
     * It answered within the grace period: it keeps its chunks.
     */
    GRACE,
    /**
     * It did not answer for longer than the grace period. The place is there for its Trino worker.
     */
    DEAD,
    /**
     * It never answered. The place is there for its Trino worker.
     */
    UNSEEN;

    /**
     * Returns whether the cache worker may answer the next request.
     */
    public boolean isLive()
    {
        return this == ANSWERING || this == GRACE;
    }
}
