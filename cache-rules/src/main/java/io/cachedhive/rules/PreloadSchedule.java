package io.cachedhive.rules;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * A preload that the coordinator begins at certain times.
 *
 * @param name unique among the schedules of a file
 * @param partitionAge selects partitions; empty for all of the table
 * @param columns the columns to load; empty for all columns
 * @param budgetBytes the limit on the bytes that one run loads; empty for no limit
 * @param startWithin the time after the scheduled time in which a run can still begin
 * @param user the user that lists the files, for metastores that ask for one
 * @param definition the whole schedule as JSON, as written in the file; schedules with equal definitions are the same schedule
 */
public record PreloadSchedule(
        String name,
        CronSchedule cron,
        String schema,
        String table,
        Optional<PartitionAge> partitionAge,
        Optional<List<String>> columns,
        OptionalLong budgetBytes,
        Duration startWithin,
        String user,
        String definition)
{
    public PreloadSchedule
    {
        requireNonNull(name, "name is null");
        requireNonNull(cron, "cron is null");
        requireNonNull(schema, "schema is null");
        requireNonNull(table, "table is null");
        requireNonNull(partitionAge, "partitionAge is null");
        columns = columns.map(List::copyOf);
        requireNonNull(budgetBytes, "budgetBytes is null");
        requireNonNull(startWithin, "startWithin is null");
        requireNonNull(user, "user is null");
        requireNonNull(definition, "definition is null");
    }
}
