package io.cachedhive.plugin.stats;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.cachedhive.plugin.counters.SizedCapacity;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.plugin.table.CacheTable;
import io.cachedhive.protocol.wire.CounterNames;

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
                "Hit rates that other capacities would have had in the last one to two days, for all catalogs and Trino clusters of the cache workers together",
                List.of(
                        Column.of("capacity_multiple", DOUBLE, "Of the capacity that there is", row -> row.percent() / 100.0),
                        Column.of("capacity_bytes", BIGINT, "Bytes of SSD, or of RAM without SSD, over all cache workers that answered", SizedCapacity::capacityBytes),
                        Column.ofOptional("predicted_hit_rate", DOUBLE, "Share of the requested bytes that it would have had, 0 to 1; NULL before the first read",
                                SizedCapacity::hitRate),
                        Column.ofOptional("verdict", VARCHAR, "unsuitable: not even 16 times as much would have many hits; "
                                        + "too small: up to four times as much would bring many more; right-sized: it would not; NULL as long as too little was read to say",
                                row -> row.verdict().map(SizedCapacity.Verdict::words)),
                        Column.of("requested_bytes", BIGINT, "Bytes of the blocks that queries asked for", SizedCapacity::requestedBytes),
                        Column.of("different_bytes", BIGINT, "Bytes of different blocks among them, as far as 16 times the capacity would hold them",
                                SizedCapacity::differentBytes),
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
        long different = sum(gauges, CounterNames.SIZING_DIFFERENT_BYTES);
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
