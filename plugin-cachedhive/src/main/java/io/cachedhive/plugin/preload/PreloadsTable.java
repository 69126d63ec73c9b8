package io.cachedhive.plugin.preload;

import com.google.inject.Inject;
import io.cachedhive.plugin.table.CacheTable;
import io.trino.spi.connector.SchemaTableName;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

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
                "The preloads that have not ended, and the last %s that have, since the coordinator started, the newest first".formatted(PreloadJobs.MAX_ENDED_JOBS),
                List.of(
                        Column.of("job", VARCHAR, "Its name, or the query id of the CALL", PreloadJob.Status::id),
                        Column.of("schema_name", VARCHAR, "Schema", status -> status.table().getSchemaName()),
                        Column.of("table_name", VARCHAR, "Table", status -> status.table().getTableName()),
                        Column.ofOptional("partition", VARCHAR, "Partition columns and values; NULL for all of the table", PreloadJob.Status::partition),
                        Column.ofOptional("columns", VARCHAR, "Columns, with commas; NULL for all of them", status -> status.columns().map(names -> String.join(",", names))),
                        Column.of("state", VARCHAR, "QUEUED, RUNNING, FINISHED, FAILED or CANCELED", status -> status.state().name()),
                        Column.of("done_bytes", BIGINT, "Wanted bytes that are in the cache now", PreloadJob.Status::doneBytes),
                        Column.of(
                                "left_bytes",
                                BIGINT,
                                "Wanted bytes that are still to be loaded; of a file whose footer was not looked at yet, all of it",
                                PreloadJob.Status::leftBytes),
                        Column.of("failed_bytes", BIGINT, "Wanted bytes that could not be loaded", PreloadJob.Status::failedBytes),
                        Column.of("fetched_bytes", BIGINT, "Bytes that were fetched for it, in whole blocks; the others were there", PreloadJob.Status::fetchedBytes),
                        Column.of("started", TIMESTAMP_TZ_MILLIS, "When it was called", status -> time(status.called())),
                        Column.ofOptional("ended", TIMESTAMP_TZ_MILLIS, "When it ended; NULL before", status -> status.ended().map(PreloadsTable::time)),
                        Column.ofOptional("problem", VARCHAR, "What went wrong first, or who cancelled it; NULL if nothing did", PreloadJob.Status::problem)));
        this.jobs = requireNonNull(jobs, "jobs is null");
    }

    @Override
    protected List<PreloadJob.Status> rows()
    {
        return jobs.list().stream().map(PreloadJob::status).toList();
    }

    @Override
    protected Optional<SchemaTableName> tableOf(PreloadJob.Status row)
    {
        return Optional.of(row.table());
    }

    private static long time(Instant instant)
    {
        return packDateTimeWithZone(instant.toEpochMilli(), UTC_KEY);
    }
}
