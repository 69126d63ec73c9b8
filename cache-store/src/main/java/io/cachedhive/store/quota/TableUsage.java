package io.cachedhive.store.quota;

import static java.util.Objects.requireNonNull;

/**
 * A table with a quota, and what the store has of it.
 *
 * @param table {@code schema.table}
 * @param quotaBytes over all cache workers of the ring
 * @param shareBytes of this worker: what each of its tiers may have
 * @param ramBytes of its blocks in RAM, without those that were evicted and are readable for a moment
 * @param ssdBytes of its blocks on SSD
 */
public record TableUsage(String table, long quotaBytes, long shareBytes, long ramBytes, long ssdBytes)
{
    public TableUsage
    {
        requireNonNull(table, "table is null");
    }
}
