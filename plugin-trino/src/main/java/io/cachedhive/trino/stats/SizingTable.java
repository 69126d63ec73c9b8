package io.cachedhive.trino.stats;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.cachedhive.plugin.counters.SizedCapacity;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.trino.table.CacheTable;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * What more or less capacity would bring, as the cache workers predict it, summed over those that answer.
 */
final class SizingTable
        extends CacheTable<SizedCapacity>
{
    // a worker of the release before does not know these
    private static final List<Integer> PERCENTS = List.of(25, 50, 100, 200, 400, 800, 1600);

    private final WorkerReports reports;

    @Inject
    SizingTable(WorkerReports reports)
    {
        super(
                "sizing",
                "Predicted hit rates of other capacities for the last one to two days, over all catalogs and Trino clusters",
                List.of(
                        Column.of("capacity_multiple", DOUBLE, "Multiple of the current capacity", row -> row.percent() / 100.0),
                        Column.of("capacity_bytes", BIGINT, "Capacity of the SSD tiers, or of the RAM tiers when there is no SSD, of the cache workers that answered",
                                SizedCapacity::capacityBytes),
                        Column.ofOptional("predicted_hit_rate", DOUBLE, "Predicted fraction of requested bytes served by the cache, 0 to 1; NULL before the first read",
                                SizedCapacity::hitRate),
                        Column.ofOptional("verdict", VARCHAR, "unsuitable: few hits even with 16 times the capacity; "
                                        + "too small: many more hits with up to four times the capacity; right-sized: few more hits; NULL until enough was read",
                                row -> row.verdict().map(SizedCapacity.Verdict::words)),
                        Column.of("requested_bytes", BIGINT, "Bytes of the blocks requested by queries", SizedCapacity::requestedBytes),
                        Column.of("distinct_bytes", BIGINT, "Bytes of distinct blocks among the requested ones, limited to 16 times the capacity",
                                SizedCapacity::distinctBytes),
                        Column.of("nodes", BIGINT, "Cache workers that answered", SizedCapacity::nodes)));
        this.reports = requireNonNull(reports, "reports is null");
    }

    @Override
    protected List<SizedCapacity> rows()
    {
        List<Map<String, Long>> gauges = reports.ask().stream()
                .flatMap(report -> report.stats().stream())
                .map(stats -> stats.gauges())
                .filter(each -> each.containsKey(CounterNames.SIZING_CAPACITY_BYTES))
                .collect(toImmutableList());
        long capacity = sum(gauges, CounterNames.SIZING_CAPACITY_BYTES);
        long requested = sum(gauges, CounterNames.SIZING_REQUESTED_BYTES);
        long different = sum(gauges, CounterNames.SIZING_DISTINCT_BYTES);
        List<Long> hits = PERCENTS.stream()
                .map(percent -> sum(gauges, CounterNames.sizingHitBytes(percent)))
                .collect(toImmutableList());
        ImmutableList.Builder<SizedCapacity> rows = ImmutableList.builder();
        for (int i = 0; i < PERCENTS.size(); i++) {
            rows.add(new SizedCapacity(PERCENTS.get(i), capacity, requested, different, hits.get(i), hits.subList(i + 1, hits.size()), gauges.size()));
        }
        return rows.build();
    }

    private static long sum(List<Map<String, Long>> gauges, String name)
    {
        return gauges.stream()
                .map(each -> each.get(name))
                .filter(Objects::nonNull)
                .mapToLong(Long::longValue)
                .sum();
    }
}
