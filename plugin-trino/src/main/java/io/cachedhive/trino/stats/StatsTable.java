package io.cachedhive.trino.stats;

import com.google.inject.Inject;
import io.cachedhive.plugin.counters.WorkerReport;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.trino.table.CacheTable;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

final class StatsTable
        extends CacheTable<WorkerReport>
{
    private final WorkerReports reports;

    @Inject
    StatsTable(WorkerReports reports)
    {
        super(
                "stats",
                "Cache workers and the bytes that this Trino cluster read in this catalog, by source",
                List.of(
                        Column.ofOptional("node_id", VARCHAR, "Cache worker id; NULL if no cache worker has ever answered on this host", WorkerReport::nodeId),
                        Column.of("host", VARCHAR, "Host of the cache worker", report -> report.place().address().host()),
                        Column.of("state", VARCHAR, "RUNNING, DRAINING, STOPPING, or UNREACHABLE", WorkerReport::state),
                        Column.ofOptional("problem", VARCHAR, "Current problem and how to fix it; NULL when healthy", WorkerReport::problem),
                        Column.ofOptional("since", TIMESTAMP_TZ_MILLIS, "Start time of the counters", report -> since(report.stats())),
                        Column.of("hit_rate", DOUBLE, "Fraction of cacheable bytes served from RAM, SSD and other hosts, 0 to 1; NULL before the first read",
                                StatsTable::hitRate),
                        counter("requests", CounterNames.REQUESTS, "Reads by the Trino worker of this host"),
                        counter("ram_hit_bytes", CounterNames.RAM_HIT_BYTES, "Bytes read from the local RAM tier"),
                        counter("ssd_hit_bytes", CounterNames.SSD_HIT_BYTES, "Bytes read from the local SSD tier"),
                        counter("non_local_hit_bytes", CounterNames.NON_LOCAL_HIT_BYTES, "Bytes read from cache workers of other hosts"),
                        counter("remote_read_bytes", CounterNames.REMOTE_READ_BYTES, "Bytes read from the origin into the cache"),
                        counter("bypass_bytes", CounterNames.BYPASS_BYTES, "Bytes read from the origin, bypassing the cache"),
                        gauge("ram_used_bytes", CounterNames.RAM_USED_BYTES, "Bytes of blocks in the RAM tier, over all catalogs"),
                        gauge("ssd_used_bytes", CounterNames.SSD_USED_BYTES, "Bytes of blocks in the SSD tier, over all catalogs")));
        this.reports = requireNonNull(reports, "reports is null");
    }

    @Override
    protected List<WorkerReport> rows()
    {
        return reports.ask();
    }

    private static Column<WorkerReport> counter(String column, String counter, String comment)
    {
        return Column.ofOptional(column, BIGINT, comment, report -> report.counter(counter));
    }

    private static Column<WorkerReport> gauge(String column, String gauge, String comment)
    {
        return Column.ofOptional(column, BIGINT, comment, report -> report.gauge(gauge));
    }

    private static Optional<Long> since(Optional<Stats> stats)
    {
        return stats.map(value -> packDateTimeWithZone(value.sinceMillis(), UTC_KEY));
    }

    private static Double hitRate(WorkerReport report)
    {
        OptionalDouble hitRate = report.hitRate();
        return hitRate.isPresent() ? hitRate.getAsDouble() : null;
    }
}
