package io.cachedhive.trino.contents;

import io.cachedhive.plugin.config.PricesConfig;
import io.cachedhive.protocol.wire.CounterNames;
import io.trino.spi.connector.SchemaTableName;

import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What is cached of a table, or of one of its partitions.
 *
 * @param partition its name ({@code day=1/hour=2}); empty for all of the table
 * @param counters of the table's reads, by names of {@link CounterNames}; empty for a partition, whose reads nobody counts apart
 */
record TableContents(SchemaTableName table, Optional<String> partition, long files, long cachedBytes, Optional<Map<String, Long>> counters)
{
    private static final double GIGABYTE = 1e9;

    TableContents
    {
        requireNonNull(table, "table is null");
        requireNonNull(partition, "partition is null");
        requireNonNull(counters, "counters is null");
    }

    Optional<Long> counter(String name)
    {
        return counters.map(values -> values.getOrDefault(name, 0L));
    }

    /**
     * Reads with bytes from the cache: each would have been a request.
     */
    Optional<Long> savedRequests()
    {
        return counters.map(_ -> sum(CounterNames.RAM_HIT_REQUESTS, CounterNames.SSD_HIT_REQUESTS, CounterNames.NON_LOCAL_HIT_REQUESTS));
    }

    Optional<Long> savedBytes()
    {
        return counters.map(_ -> sum(CounterNames.RAM_HIT_BYTES, CounterNames.SSD_HIT_BYTES, CounterNames.NON_LOCAL_HIT_BYTES));
    }

    /**
     * Below zero if bytes between zones cost more than the cache saved.
     */
    Optional<Double> savedCost(PricesConfig prices)
    {
        return counters.map(values -> savedRequests().orElseThrow() / 1000.0 * prices.getPricePerThousandRequests()
                + savedBytes().orElseThrow() / GIGABYTE * prices.getPricePerGigabyte()
                - values.getOrDefault(CounterNames.CROSS_ZONE_BYTES, 0L) / GIGABYTE * prices.getCrossZonePricePerGigabyte());
    }

    private long sum(String... names)
    {
        long sum = 0;
        for (String name : names) {
            sum += counter(name).orElse(0L);
        }
        return sum;
    }
}
