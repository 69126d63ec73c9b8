package io.cachedhive.plugin.preload;

import com.google.inject.Inject;
import io.cachedhive.plugin.stats.CacheTable;

import java.time.Instant;
import java.util.List;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

final class PreloadsTable
        extends CacheTable<PreloadJob.Status>
{
    private final PreloadJobs jobs;

    @Inject
    PreloadsTable(PreloadJobs jobs)
    {
        super(
                "preloads",
                "The last 100 preloads since the coordinator started, the newest first",
                List.of(
                        Column.of("job", VARCHAR, "Query id of the CALL", PreloadJob.Status::id),
                        Column.of("schema_name", VARCHAR, "Schema", status -> status.table().getSchemaName()),
                        Column.of("table_name", VARCHAR, "Table", status -> status.table().getTableName()),
                        Column.ofOptional("partition", VARCHAR, "Partition columns and values; NULL for an unpartitioned table", PreloadJob.Status::partition),
                        Column.of("state", VARCHAR, "RUNNING, FINISHED or FAILED", status -> status.state().name()),
                        Column.of("done_bytes", BIGINT, "Bytes that are in the cache now", PreloadJob.Status::doneBytes),
                        Column.of("left_bytes", BIGINT, "Bytes that are still to be loaded", PreloadJob.Status::leftBytes),
                        Column.of("failed_bytes", BIGINT, "Bytes that could not be loaded", PreloadJob.Status::failedBytes),
                        Column.of("started", TIMESTAMP_TZ_MILLIS, "When it was called", status -> time(status.started())),
                        Column.ofOptional("ended", TIMESTAMP_TZ_MILLIS, "When it ended; NULL while it runs", status -> status.ended().map(PreloadsTable::time)),
                        Column.ofOptional("problem", VARCHAR, "What went wrong first; NULL if nothing did", PreloadJob.Status::problem)));
        this.jobs = requireNonNull(jobs, "jobs is null");
    }

    @Override
    protected List<PreloadJob.Status> rows()
    {
        return jobs.list();
    }

    private static long time(Instant instant)
    {
        return packDateTimeWithZone(instant.toEpochMilli(), UTC_KEY);
    }
}
