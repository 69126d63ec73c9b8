package io.cachedhive.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Values that other processes, and this one in a year, have to compute alike: {@code name = value} in a file beside the test, written once.
 * A change of one of them is a new version of the protocol or loses every cached block.
 */
public final class GoldenValues
{
    private final String resource;
    private final Map<String, String> expected = new LinkedHashMap<>();
    private final Map<String, String> actual = new LinkedHashMap<>();

    private GoldenValues(String resource)
    {
        this.resource = resource;
    }

    public static GoldenValues of(Class<?> test, String resource)
            throws IOException
    {
        GoldenValues values = new GoldenValues(resource);
        try (InputStream stream = requireNonNull(test.getResourceAsStream(resource), resource)) {
            new String(stream.readAllBytes(), UTF_8).lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> line.split(" = ", 2))
                    .forEach(parts -> assertThat(values.expected.put(parts[0], parts[1])).describedAs("twice in %s: %s", resource, parts[0]).isNull());
        }
        return values;
    }

    public void add(String name, Object value)
    {
        assertThat(actual.put(name, value.toString())).describedAs("twice: %s", name).isNull();
    }

    /**
     * The file has exactly the values that were added.
     */
    public void verify()
    {
        assertThat(text(actual)).describedAs(resource).isEqualTo(text(expected));
    }

    private static String text(Map<String, String> values)
    {
        StringBuilder text = new StringBuilder();
        values.forEach((name, value) -> text.append(name).append(" = ").append(value).append('\n'));
        return text.toString();
    }
}
