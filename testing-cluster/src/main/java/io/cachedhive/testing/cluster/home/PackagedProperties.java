package io.cachedhive.testing.cluster.home;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * A packaged properties file, edited as an operator would: a value replaces the one that is set, or is added at the end; comments stay.
 */
final class PackagedProperties
{
    private final List<String> lines;

    private PackagedProperties(List<String> lines)
    {
        this.lines = requireNonNull(lines, "lines is null");
    }

    static PackagedProperties read(Path file)
            throws IOException
    {
        return new PackagedProperties(Files.exists(file) ? Files.readAllLines(file) : List.of());
    }

    /** The text with the given values; an empty value leaves the property out. */
    String with(Map<String, String> values)
    {
        Map<String, String> left = new LinkedHashMap<>(values);
        List<String> result = new ArrayList<>();
        for (String line : lines) {
            String key = line.strip().split("[=\\s]", 2)[0];
            if (!values.containsKey(key)) {
                result.add(line);
                continue;
            }
            String value = left.remove(key);
            if (value != null && !value.isEmpty()) {
                result.add(key + "=" + value);
            }
        }
        left.forEach((key, value) -> {
            if (!value.isEmpty()) {
                result.add(key + "=" + value);
            }
        });
        return String.join("\n", result) + "\n";
    }
}
