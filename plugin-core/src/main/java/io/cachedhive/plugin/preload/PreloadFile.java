package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * A file as it was listed.
 *
 * @param acid whether its rows are wrapped as those of transactional tables are
 * @param splits as a scan of the file would be cut into
 */
public record PreloadFile(FileOrigin origin, FileVersion version, FileFormat format, boolean acid, List<ByteRange> splits)
{
    public PreloadFile
    {
        requireNonNull(origin, "origin is null");
        requireNonNull(version, "version is null");
        requireNonNull(format, "format is null");
        splits = List.copyOf(splits);
    }

    public long splitBytes()
    {
        return splits.stream().mapToLong(ByteRange::length).sum();
    }

    /**
     * All of it, whatever its splits are.
     */
    public List<ByteRange> whole()
    {
        return ByteRange.join(List.of(new ByteRange(0, version.length())), 0);
    }
}
