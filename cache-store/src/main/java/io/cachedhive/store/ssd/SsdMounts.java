package io.cachedhive.store.ssd;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

import static java.util.Objects.requireNonNull;

/**
 * The last known mount points of the SSD directories. They distinguish a missing disk from a mistyped path, and an
 * empty mount point from a new disk. The text format has a line for each directory: the mount point, a tab, the
 * directory.
 *
 * @param file path of the text file
 * @param mountPoints by directory
 */
public record SsdMounts(Path file, Map<Path, Path> mountPoints)
{
    public SsdMounts
    {
        requireNonNull(file, "file is null");
        mountPoints = Map.copyOf(mountPoints);
    }

    /**
     * Parses the text format. Ignores malformed lines; their directories then count as new.
     */
    public static SsdMounts parse(Path file, String text)
    {
        Map<Path, Path> mountPoints = new TreeMap<>();
        for (String line : text.split("\n")) {
            int tab = line.indexOf('\t');
            if (tab > 0 && line.indexOf('\0') < 0) {
                mountPoints.put(Path.of(line.substring(tab + 1)), Path.of(line.substring(0, tab)));
            }
        }
        return new SsdMounts(file, mountPoints);
    }

    public String format()
    {
        return new TreeMap<>(mountPoints).entrySet().stream()
                .map(entry -> "%s\t%s\n".formatted(entry.getValue(), entry.getKey()))
                .collect(Collectors.joining());
    }

    Optional<Path> find(Path directory)
    {
        return Optional.ofNullable(mountPoints.get(directory));
    }
}
