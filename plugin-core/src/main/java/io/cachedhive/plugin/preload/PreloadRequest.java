package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.table.TableName;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * What a CALL asks for.
 *
 * @param partition values by partition column, as strings of a partition's name; without any, all of an unpartitioned table
 * @param allPartitions whether all of a partitioned table is meant
 * @param columns empty for all of them
 * @param pin whether what is meant is pinned as well, with all columns
 * @param job the job's id; empty for that of the query
 * @param waitForEnd whether the CALL ends with the job
 */
public record PreloadRequest(
        TableName table,
        Map<String, String> partition,
        boolean allPartitions,
        Optional<List<String>> columns,
        boolean pin,
        Optional<String> job,
        OptionalLong maxBytesPerSecond,
        boolean waitForEnd)
{
    public PreloadRequest
    {
        requireNonNull(table, "table is null");
        requireNonNull(partition, "partition is null");
        columns = columns.map(List::copyOf);
        requireNonNull(job, "job is null");
        requireNonNull(maxBytesPerSecond, "maxBytesPerSecond is null");
    }

    public Optional<String> partitionName()
    {
        if (partition.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(partition.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(joining("/")));
    }
}
