package io.cachedhive.trino.context;

import io.trino.filesystem.Location;

import static java.util.Objects.requireNonNull;

/**
 * The file that a split lies in, as the coordinator listed it.
 *
 * @param length of the file, bytes
 * @param lastModifiedMillis milliseconds since the epoch; {@link io.cachedhive.protocol.file.FileVersion#IMMUTABLE} if the scan's files do not change after they were written
 * @param splitEnd where the split ends, bytes from the start of the file: readers seldom go much further
 */
public record SplitFile(Location location, long length, long lastModifiedMillis, long splitEnd)
{
    public SplitFile
    {
        requireNonNull(location, "location is null");
    }
}
