package io.cachedhive.benchmark.queries;

import static java.util.Objects.requireNonNull;

/**
 * What a user can choose to read tables on an object store, each a catalog of the same Trino servers.
 */
public enum Contender
{
    /**
     * Trino's Hive connector without a cache.
     */
    HIVE("hive", "plain Hive"),
    /**
     * Trino's Hive connector with the cache that Trino has, {@code fs.cache}.
     */
    BUILT_IN("builtin", "Hive with fs.cache"),
    /**
     * Trino's Hive connector, with the files and the metastore on the local disk of every node. No cache can be faster.
     */
    LOCAL("local", "local disk"),
    CACHEDHIVE("cachedhive", "cachedhive");

    private final String catalog;
    private final String title;

    Contender(String catalog, String title)
    {
        this.catalog = requireNonNull(catalog, "catalog is null");
        this.title = requireNonNull(title, "title is null");
    }

    /**
     * Returns the catalog.
     *
     * @param listingCache whether Hive's cache of listings is on
     */
    public String catalog(boolean listingCache)
    {
        return listingCache ? catalog + "_listed" : catalog;
    }

    public String title()
    {
        return title;
    }
}
