package io.cachedhive.trino.contents;

import io.cachedhive.plugin.config.PricesConfig;
import io.cachedhive.protocol.wire.CounterNames;
import io.trino.spi.connector.SchemaTableName;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * The cached files of a table, and the counters of its reads.
 *
 * @param files file versions with cached blocks
 * @param counters by names of {@link CounterNames}
 */
record TableContents(SchemaTableName table, long files, long cachedBytes, Map<String, Long> counters)
{
    private static final double GIGABYTE = 1e9;

    TableContents
    {
        requireNonNull(table, "table is null");
        counters = Map.copyOf(counters);
    }

    long counter(String name)
    {
        return counters.getOrDefault(name, 0L);
    }

    /**
     * Returns the reads with bytes from the cache. Without the cache, each is a request.
     */
    long savedRequests()
    {
        return counter(CounterNames.RAM_HIT_REQUESTS) + counter(CounterNames.SSD_HIT_REQUESTS) + counter(CounterNames.NON_LOCAL_HIT_REQUESTS);
    }

    long savedBytes()
    {
        return counter(CounterNames.RAM_HIT_BYTES) + counter(CounterNames.SSD_HIT_BYTES) + counter(CounterNames.NON_LOCAL_HIT_BYTES);
    }

    /**
     * Returns the cost of the saved requests and bytes. It is negative if bytes between zones cost more than the cache saved.
     */
    double savedCost(PricesConfig prices)
    {
        return cost(prices, savedRequests(), savedBytes()) - counter(CounterNames.CROSS_ZONE_BYTES) / GIGABYTE * prices.getCrossZonePricePerGigabyte();
    }

    /**
     * Returns the reads with bytes from the object store.
     */
    long spentRequests()
    {
        return counter(CounterNames.REMOTE_READ_REQUESTS) + counter(CounterNames.BYPASS_REQUESTS);
    }

    private long spentBytes()
    {
        return counter(CounterNames.REMOTE_READ_BYTES) + counter(CounterNames.BYPASS_BYTES);
    }

    double spentCost(PricesConfig prices)
    {
        return cost(prices, spentRequests(), spentBytes());
    }

    private static double cost(PricesConfig prices, long requests, long bytes)
    {
        return requests / 1000.0 * prices.getPricePerThousandRequests() + bytes / GIGABYTE * prices.getPricePerGigabyte();
    }
}
