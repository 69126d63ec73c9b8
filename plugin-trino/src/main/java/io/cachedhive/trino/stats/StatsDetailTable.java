package io.cachedhive.trino.stats;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.inject.Inject;
import io.cachedhive.plugin.counters.WorkerReport;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.trino.table.CacheTable;
import io.trino.spi.block.SqlMap;
import io.trino.spi.type.MapType;
import io.trino.spi.type.TypeManager;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import static io.airlift.slice.Slices.utf8Slice;
import static io.trino.spi.block.MapValueBuilder.buildMapValue;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

final class StatsDetailTable
        extends CacheTable<WorkerReport>
{
    // the columns of cache.stats, and a problem that is a sentence there
    private static final Set<String> OTHER_TABLES = ImmutableSet.of(
            CounterNames.REQUESTS,
            CounterNames.RAM_HIT_BYTES,
            CounterNames.SSD_HIT_BYTES,
            CounterNames.NON_LOCAL_HIT_BYTES,
            CounterNames.REMOTE_READ_BYTES,
            CounterNames.BYPASS_BYTES,
            CounterNames.RAM_USED_BYTES,
            CounterNames.SSD_USED_BYTES,
            CounterNames.PROBLEMS);
    // cache.sizing has these
    private static final String SIZING_PREFIX = "sizing_";

    private final WorkerReports reports;

    @Inject
    StatsDetailTable(WorkerReports reports, TypeManager typeManager)
    {
        super("stats_detail", "Detailed counters and capacities of the cache workers", columns(new MapType(VARCHAR, BIGINT, typeManager.getTypeOperators())));
        this.reports = requireNonNull(reports, "reports is null");
    }

    private static List<Column<WorkerReport>> columns(MapType bytesByCause)
    {
        ImmutableList.Builder<Column<WorkerReport>> columns = ImmutableList.<Column<WorkerReport>>builder()
                .add(Column.ofOptional("node_id", VARCHAR, "Cache worker id; NULL if no cache worker has ever answered on this host", WorkerReport::nodeId))
                .add(Column.of("host", VARCHAR, "Host of the cache worker", report -> report.place().address().host()))
                .add(Column.ofOptional("bypass_bytes_by_cause", bytesByCause, "Bytes read from the origin, bypassing the cache, by cause",
                        report -> report.stats().map(_ -> toMap(bytesByCause, report.bypassBytesByCause()))));
        CacheMetric.ALL.stream()
                .filter(metric -> !OTHER_TABLES.contains(metric.name()) && !metric.name().startsWith(SIZING_PREFIX))
                .forEach(metric -> columns.add(Column.ofOptional(metric.name(), BIGINT, metric.description(), report -> switch (metric.scope()) {
                    case TABLE -> report.counter(metric.name());
                    case WORKER -> metric.optional() ? report.optionalGauge(metric.name()) : report.gauge(metric.name());
                })));
        return columns.build();
    }

    @Override
    protected List<WorkerReport> rows()
    {
        return reports.ask();
    }

    private static SqlMap toMap(MapType type, Map<String, Long> values)
    {
        return buildMapValue(type, values.size(), (keys, counts) -> new TreeMap<>(values).forEach((key, count) -> {
            VARCHAR.writeSlice(keys, utf8Slice(key));
            BIGINT.writeLong(counts, count);
        }));
    }
}
