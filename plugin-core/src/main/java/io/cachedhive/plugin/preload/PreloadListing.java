package io.cachedhive.plugin.preload;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What a job is to load.
 *
 * @param columns that are wanted; empty for all columns
 */
public record PreloadListing(List<PreloadFile> files, Optional<WantedColumns> columns)
{
    public PreloadListing
    {
        files = List.copyOf(files);
        requireNonNull(columns, "columns is null");
    }

    public long bytes()
    {
        return files.stream().mapToLong(PreloadFile::splitBytes).sum();
    }
}
