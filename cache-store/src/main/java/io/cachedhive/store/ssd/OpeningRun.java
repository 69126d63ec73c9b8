package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;

import static java.util.Objects.requireNonNull;

/**
 * The run of a cache worker's store for which a directory is opened.
 *
 * @param lastRun the last run of the store, in any directory
 * @param usedRun the last run that used the store
 * @param newStoreId store id for a formatted directory
 * @param newVersion format version for a formatted directory
 */
record OpeningRun(CacheWorkerId workerId, long lastRun, long usedRun, Digest128 newStoreId, int newVersion)
{
    OpeningRun
    {
        requireNonNull(workerId, "workerId is null");
        requireNonNull(newStoreId, "newStoreId is null");
    }

    long run()
    {
        return lastRun + 1;
    }
}
