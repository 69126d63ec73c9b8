package io.cachedhive.admin.output;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * A column of a table of hosts.
 *
 * @param alignRight for numbers
 * @param text of one host's answer
 */
public record Column(String name, boolean alignRight, Function<JsonNode, String> text)
{
    public Column
    {
        requireNonNull(name, "name is null");
        requireNonNull(text, "text is null");
    }

    public static Column text(String name, Function<JsonNode, String> text)
    {
        return new Column(name, false, text);
    }

    public static Column number(String name, Function<JsonNode, String> text)
    {
        return new Column(name, true, text);
    }
}
