package io.cachedhive.store.quota;

import static java.util.Objects.requireNonNull;

/**
 * A table with a quota, and its cached bytes.
 *
 * @param table {@code schema.table}
 * @param quotaBytes over all cache workers of the ring
 * @param shareBytes this worker's limit for each tier
 * @param ramBytes bytes of its blocks in RAM, without evicted ones that are still readable
 * @param ssdBytes bytes of its blocks on SSD
 */
public record TableUsage(String table, long quotaBytes, long shareBytes, long ramBytes, long ssdBytes)
{
    public TableUsage
    {
        requireNonNull(table, "table is null");
    }
}
