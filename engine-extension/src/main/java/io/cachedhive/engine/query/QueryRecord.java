package io.cachedhive.engine.query;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import io.trino.execution.QueryInfo;
import io.trino.execution.QueryState;
import io.trino.execution.QueryStats;
import io.trino.operator.OperatorStats;
import io.trino.spi.ErrorCode;
import io.trino.spi.metrics.Count;
import io.trino.spi.metrics.Metric;
import io.trino.spi.security.Identity;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A query that scanned tables of cachedhive catalogs.
 *
 * @param owner the user that runs the query
 * @param tables the tables of cachedhive catalogs that the query reads, separated by commas
 * @param metrics the sums of the metrics of the scans, by name
 * @param error name of the error; empty if the query did not fail
 */
record QueryRecord(String queryId, Identity owner, String state, Instant created, double elapsedSeconds, String tables, Map<String, Long> metrics, Optional<String> error)
{
    private static final Set<String> CONNECTOR_NAMES = Set.of("cachedhive", "cachediceberg");
    private static final int MAX_TABLES_LENGTH = 4000;
    // most queries have the owners and the names of metrics of others
    private static final Interner<Identity> OWNERS = Interners.newWeakInterner();
    private static final Interner<String> NAMES = Interners.newWeakInterner();
    // each scan that reads through the cache has this metric
    private static final String SCAN_METRIC = "ram_hit_bytes";
    private static final String BYPASS_PREFIX = "bypass_bytes_";
    private static final List<String> SOURCES = List.of("ram_hit", "ssd_hit", "non_local_hit", "remote_read", "bypass");
    // the only ones that are kept
    private static final Set<String> METRICS = Stream.concat(
            Stream.of("requested_bytes"),
            SOURCES.stream().flatMap(source -> Stream.of(source + "_bytes", source + "_requests", source + "_wait_nanos"))).collect(toImmutableSet());
    private static final double NANOS_PER_SECOND = 1e9;

    QueryRecord
    {
        requireNonNull(queryId, "queryId is null");
        requireNonNull(owner, "owner is null");
        requireNonNull(state, "state is null");
        requireNonNull(created, "created is null");
        requireNonNull(tables, "tables is null");
        metrics = ImmutableMap.copyOf(metrics);
        requireNonNull(error, "error is null");
    }

    static QueryRecord of(QueryInfo query)
    {
        QueryStats stats = query.getQueryStats();
        return new QueryRecord(
                query.getQueryId().toString(),
                OWNERS.intern(query.getSession().toIdentity()),
                state(query),
                stats.getCreateTime(),
                stats.getElapsedTime().toMillis() / 1000.0,
                cut(query.getInputs().stream()
                        .filter(input -> input.connectorName().filter(CONNECTOR_NAMES::contains).isPresent())
                        .map(input -> "%s.%s.%s".formatted(input.catalogName(), input.schema(), input.table()))
                        .distinct()
                        .sorted()
                        .collect(joining(", "))),
                metrics(stats),
                Optional.ofNullable(query.getErrorCode()).map(ErrorCode::getName));
    }

    private static String cut(String text)
    {
        return text.length() <= MAX_TABLES_LENGTH ? text : text.substring(0, MAX_TABLES_LENGTH) + "...";
    }

    private static String state(QueryInfo query)
    {
        // the metrics of a finished query are complete when its stages have ended
        return query.getState().isDone() && !query.isFinalQueryInfo() ? QueryState.FINISHING.toString() : query.getState().toString();
    }

    private static Map<String, Long> metrics(QueryStats stats)
    {
        Map<String, Long> sums = new HashMap<>();
        for (OperatorStats operator : stats.getOperatorSummaries()) {
            Map<String, Metric<?>> metrics = operator.getConnectorMetrics().getMetrics();
            if (metrics.containsKey(SCAN_METRIC)) {
                metrics.forEach((name, metric) -> {
                    if (metric instanceof Count<?> count && (METRICS.contains(name) || name.startsWith(BYPASS_PREFIX))) {
                        sums.merge(NAMES.intern(name), count.getTotal(), Long::sum);
                    }
                });
            }
        }
        return sums;
    }

    /**
     * @return 0 if no scan has the metric
     */
    long metric(String name)
    {
        return metrics.getOrDefault(name, 0L);
    }

    /**
     * Returns the time that reads of all splits together waited for a source.
     *
     * @param source such as {@code ssd_hit}
     */
    double waitSeconds(String source)
    {
        return metric(source + "_wait_nanos") / NANOS_PER_SECOND;
    }

    private long hitBytes()
    {
        return metric("ram_hit_bytes") + metric("ssd_hit_bytes") + metric("non_local_hit_bytes");
    }

    /**
     * Returns the fraction of cacheable bytes that the cache served.
     *
     * @return empty if the query read no cacheable bytes
     */
    Optional<Double> hitRate()
    {
        long cacheable = hitBytes() + metric("remote_read_bytes");
        return cacheable == 0 ? Optional.empty() : Optional.of((double) hitBytes() / cacheable);
    }

    /**
     * Returns the causes of bypassed bytes in the form {@code cause=bytes}, separated by commas.
     *
     * @return empty if no bytes bypassed the cache
     */
    Optional<String> bypassBytesByCause()
    {
        Map<String, Long> causes = new TreeMap<>();
        metrics.forEach((name, bytes) -> {
            if (name.startsWith(BYPASS_PREFIX) && bytes > 0) {
                causes.put(name.substring(BYPASS_PREFIX.length()), bytes);
            }
        });
        return causes.isEmpty() ? Optional.empty() : Optional.of(causes.entrySet().stream()
                .map(cause -> cause.getKey() + "=" + cause.getValue())
                .collect(joining(", ")));
    }

    /**
     * Returns the reads with bytes from the cache. Without the cache, each is a request to the object store.
     */
    long savedRequests()
    {
        return metric("ram_hit_requests") + metric("ssd_hit_requests") + metric("non_local_hit_requests");
    }

    /**
     * Returns the reads with bytes from the object store.
     */
    long spentRequests()
    {
        return metric("remote_read_requests") + metric("bypass_requests");
    }
}
