package io.cachedhive.chaos.lake;

import io.cachedhive.chaos.rows.FileHistory;

import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * A table whose files are replaced.
 *
 * @param name such as {@code moving_orc}
 * @param files by their last part of the path
 */
public record MovingTable(String name, TableFormat format, Map<String, FileHistory> files)
{
    public MovingTable
    {
        requireNonNull(name, "name is null");
        requireNonNull(format, "format is null");
        files = Map.copyOf(files);
    }

    /** The last parts of the paths, sorted. */
    public List<String> keys()
    {
        return files.keySet().stream().sorted().toList();
    }
}
