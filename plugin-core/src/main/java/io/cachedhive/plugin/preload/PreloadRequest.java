package io.cachedhive.plugin.preload;

import io.airlift.units.Duration;
import io.cachedhive.plugin.table.TableName;
import io.cachedhive.rules.PartitionAge;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;
import static java.util.stream.Collectors.joining;

/**
 * The request of a CALL or of a schedule.
 *
 * @param partition values by partition column, as strings of a partition's name; without any, all of an unpartitioned table
 * @param allPartitions whether all of a partitioned table is meant
 * @param partitionAge selects partitions by age, in addition to the values
 * @param columns empty for all of them
 * @param pin whether what is meant is pinned as well, with all columns
 * @param job the job's id; empty for that of the query
 * @param schedule the name of the schedule that begins the job; empty for a CALL
 * @param budgetBytes the limit on the bytes to load; empty for no limit
 * @param waitForEnd whether the CALL ends with the job
 */
public record PreloadRequest(
        TableName table,
        Map<String, String> partition,
        boolean allPartitions,
        Optional<AgeLimit> partitionAge,
        Optional<List<String>> columns,
        boolean pin,
        Optional<String> job,
        Optional<String> schedule,
        OptionalLong budgetBytes,
        OptionalLong maxBytesPerSecond,
        boolean waitForEnd)
{
    /**
     * A condition on the age of partitions at a certain time.
     */
    public record AgeLimit(PartitionAge age, Instant now)
    {
        public AgeLimit
        {
            requireNonNull(age, "age is null");
            requireNonNull(now, "now is null");
        }

        /**
         * Returns whether a partition has the age.
         *
         * @param values by partition column
         */
        public boolean matches(Map<String, String> values)
        {
            return age.matches(column -> Optional.ofNullable(values.get(column)), now);
        }

        /**
         * Returns the end of the time that a partition with the age covers.
         *
         * @param values by partition column
         */
        public Instant end(Map<String, String> values)
        {
            return age.end(column -> Optional.ofNullable(values.get(column))).orElseThrow();
        }

        @Override
        public String toString()
        {
            return "age of %s%s%s".formatted(
                    String.join("/", age.columns()),
                    age.min().map(min -> " from " + Duration.succinctDuration((double) min.toSeconds(), SECONDS)).orElse(""),
                    age.max().map(max -> " up to " + Duration.succinctDuration((double) max.toSeconds(), SECONDS)).orElse(""));
        }
    }

    public PreloadRequest
    {
        requireNonNull(table, "table is null");
        requireNonNull(partition, "partition is null");
        requireNonNull(partitionAge, "partitionAge is null");
        columns = columns.map(List::copyOf);
        requireNonNull(job, "job is null");
        requireNonNull(schedule, "schedule is null");
        requireNonNull(budgetBytes, "budgetBytes is null");
        requireNonNull(maxBytesPerSecond, "maxBytesPerSecond is null");
    }

    public Optional<String> partitionName()
    {
        if (partition.isEmpty()) {
            return partitionAge.map(AgeLimit::toString);
        }
        return Optional.of(partition.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(joining("/")));
    }
}
