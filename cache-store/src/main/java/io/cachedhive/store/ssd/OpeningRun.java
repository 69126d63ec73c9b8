package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;

import static java.util.Objects.requireNonNull;

/**
 * The run of a cache worker's store that a directory is opened for.
 *
 * @param lastRun the last run of the store before, with any directory
 * @param usedRun the last run in which the store was used
 * @param newStoreId store id if the directory is formatted
 * @param newVersion version of the format if the directory is formatted
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
