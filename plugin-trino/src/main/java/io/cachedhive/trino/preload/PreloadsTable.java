package io.cachedhive.trino.preload;

import com.google.inject.Inject;
import io.cachedhive.plugin.preload.PreloadJob;
import io.cachedhive.plugin.preload.PreloadJobs;
import io.cachedhive.trino.table.CacheTable;
import io.cachedhive.trino.table.TableNames;
import io.trino.spi.connector.SchemaTableName;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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
    private final ScheduledPreloads schedules;

    @Inject
    PreloadsTable(PreloadJobs jobs, ScheduledPreloads schedules)
    {
        super(
                "preloads",
                "Next run of each schedule, unfinished preloads, and the last %s finished ones since the coordinator started, newest first".formatted(PreloadJobs.MAX_ENDED_JOBS),
                List.of(
                        Column.of("job", VARCHAR, "Name of the preload, or the query id of the CALL", PreloadJob.Status::id),
                        Column.ofOptional("schedule", VARCHAR, "Name of the schedule in the rules file; NULL for a CALL", PreloadJob.Status::schedule),
                        Column.of("schema_name", VARCHAR, "Schema", status -> status.table().schemaName()),
                        Column.of("table_name", VARCHAR, "Table", status -> status.table().tableName()),
                        Column.ofOptional(
                                "partition",
                                VARCHAR,
                                "Partition columns and values, or the age of the partitions; NULL for the whole table",
                                PreloadJob.Status::partition),
                        Column.ofOptional("columns", VARCHAR, "Comma-separated columns; NULL for all columns", status -> status.columns().map(names -> String.join(",", names))),
                        Column.of("state", VARCHAR, "SCHEDULED, QUEUED, RUNNING, FINISHED, FAILED or CANCELED", status -> status.state().name()),
                        Column.of("done_bytes", BIGINT, "Requested bytes that are now cached", PreloadJob.Status::doneBytes),
                        Column.of(
                                "remaining_bytes",
                                BIGINT,
                                "Bytes still to load; the whole file until its footer has been read",
                                PreloadJob.Status::remainingBytes),
                        Column.of("failed_bytes", BIGINT, "Requested bytes that could not be loaded", PreloadJob.Status::failedBytes),
                        Column.of("fetched_bytes", BIGINT, "Bytes fetched from the origin, in whole blocks; the rest was already cached", PreloadJob.Status::fetchedBytes),
                        Column.of(
                                "started",
                                TIMESTAMP_TZ_MILLIS,
                                "Time of the CALL, or time at which a schedule began the preload or will begin it",
                                status -> time(status.called())),
                        Column.ofOptional("ended", TIMESTAMP_TZ_MILLIS, "End time; NULL while the preload has not ended", status -> status.ended().map(PreloadsTable::time)),
                        Column.ofOptional(
                                "problem",
                                VARCHAR,
                                "First problem, the user who cancelled the preload, or the files that a budget omitted; NULL if there was none",
                                PreloadJob.Status::problem)));
        this.jobs = requireNonNull(jobs, "jobs is null");
        this.schedules = requireNonNull(schedules, "schedules is null");
    }

    @Override
    protected List<PreloadJob.Status> rows()
    {
        return Stream.concat(schedules.scheduled().stream(), jobs.list().stream().map(PreloadJob::status)).toList();
    }

    @Override
    protected Optional<SchemaTableName> tableOf(PreloadJob.Status row)
    {
        return Optional.of(TableNames.toTrino(row.table()));
    }

    private static long time(Instant instant)
    {
        return packDateTimeWithZone(instant.toEpochMilli(), UTC_KEY);
    }
}
