package io.cachedhive.plugin.table;

import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The part of a file that a split reads.
 *
 * @param start of the split, bytes
 * @param length of the split, bytes
 * @param fileLength bytes, as the listing has it
 * @param partitionValues by column, as directory names have them
 */
public record ScanFile(String location, long start, long length, long fileLength, long modifiedMillis, Map<String, String> partitionValues)
{
    public ScanFile
    {
        requireNonNull(location, "location is null");
        requireNonNull(partitionValues, "partitionValues is null");
    }

    public long end()
    {
        return start + length;
    }

    public Optional<String> partitionValue(String column)
    {
        return Optional.ofNullable(partitionValues.get(column));
    }
}
