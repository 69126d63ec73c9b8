package io.cachedhive.plugin.table;

import io.cachedhive.protocol.file.FileVersion;

import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The part of a file that a split reads.
 *
 * @param start of the split, bytes
 * @param length of the split, bytes
 * @param fileLength bytes, as the listing has it
 * @param modifiedMillis milliseconds since the Unix epoch; {@link FileVersion#IMMUTABLE} for a file that does not change after it was written
 * @param partitionValues by column or partition field, as directory names have them; empty where no rule asks for them
 */
public record ScanFile(String location, long start, long length, long fileLength, long modifiedMillis, Map<String, String> partitionValues)
{
    // some connectors let the first split begin with the first row group or stripe, behind the magic number
    private static final long MAX_MAGIC_BYTES = 4;

    public ScanFile
    {
        requireNonNull(location, "location is null");
        requireNonNull(partitionValues, "partitionValues is null");
    }

    /**
     * Returns whether no other split of the file comes before this one.
     */
    public boolean isFirst()
    {
        return start <= MAX_MAGIC_BYTES;
    }

    /**
     * Returns whether this is the only split of the file.
     */
    public boolean isWholeFile()
    {
        return isFirst() && end() >= fileLength;
    }

    public long end()
    {
        return start + length;
    }

    /**
     * Returns the same part of the file with the values of its partition.
     */
    public ScanFile withPartitionValues(Map<String, String> values)
    {
        return new ScanFile(location, start, length, fileLength, modifiedMillis, values);
    }

    public Optional<String> partitionValue(String column)
    {
        return Optional.ofNullable(partitionValues.get(column));
    }
}
