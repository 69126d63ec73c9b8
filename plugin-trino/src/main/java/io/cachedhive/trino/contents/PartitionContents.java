package io.cachedhive.trino.contents;

import io.trino.spi.connector.SchemaTableName;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The cached files of a partition.
 *
 * @param partition the name of the partition, such as {@code day=1/hour=2}; empty for files that are in no partition's directory
 * @param files file versions with cached blocks
 */
record PartitionContents(SchemaTableName table, Optional<String> partition, long files, long cachedBytes)
{
    PartitionContents
    {
        requireNonNull(table, "table is null");
        requireNonNull(partition, "partition is null");
    }

    /**
     * Returns the name of the partition of a file: the directories at the end of its path that consist of a column and a value, as in the names of Hive's partitions.
     *
     * @return empty if the last directory is not of this form
     */
    static Optional<String> partition(String location)
    {
        int end = location.lastIndexOf('/');
        int start = end;
        while (start > 0) {
            int before = location.lastIndexOf('/', start - 1);
            int equals = location.indexOf('=', before + 1);
            if (before < 0 || equals <= before + 1 || equals > start) {
                break;
            }
            start = before;
        }
        return start == end ? Optional.empty() : Optional.of(location.substring(start + 1, end));
    }
}
