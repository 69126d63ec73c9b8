package io.cachedhive.plugin.rules;

import io.trino.plugin.hive.HivePartitionKey;
import io.trino.plugin.hive.HiveSplit;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What rules ask of one split.
 *
 * @param location of its file
 * @param fileSize bytes
 * @param length of the split, bytes
 */
public record RuleSplit(String location, long fileSize, long length, List<HivePartitionKey> partitionKeys)
{
    public RuleSplit
    {
        requireNonNull(location, "location is null");
        requireNonNull(partitionKeys, "partitionKeys is null");
    }

    public static RuleSplit of(HiveSplit split)
    {
        return new RuleSplit(split.getPath(), split.getEstimatedFileSize(), split.getLength(), split.getPartitionKeys());
    }

    Optional<String> partitionValue(String column)
    {
        for (HivePartitionKey key : partitionKeys) {
            if (key.name().equals(column)) {
                return Optional.of(key.value());
            }
        }
        return Optional.empty();
    }
}
