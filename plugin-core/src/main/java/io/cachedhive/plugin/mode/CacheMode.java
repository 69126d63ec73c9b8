package io.cachedhive.plugin.mode;

/**
 * The switch of a catalog. Decided on the coordinator, carried in splits: so it is the same for all of a query, and needs no cache worker to reach the Trino workers.
 */
public enum CacheMode
{
    ON,
    /**
     * What is in the cache is read from there, everything else from the origin; nothing is fetched into the cache.
     */
    READ_ONLY,
    /**
     * Everything is read from the origin, and nothing is stored. Cache workers only hear which blocks are asked for.
     */
    SHADOW,
    /**
     * Exactly plain Hive: neither planning nor reads touch the cache.
     */
    OFF,
}
