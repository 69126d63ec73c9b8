package io.cachedhive.plugin.connector;

/**
 * The kill switch of a catalog. Decided on the coordinator, carried in splits.
 */
public enum CacheMode
{
    ON,
    /**
     * Exactly plain Hive: neither planning nor reads touch the cache.
     */
    OFF,
}
