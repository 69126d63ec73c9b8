package io.cachedhive.admin.worker;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * The single values of a cache worker's answer by their names, wherever the answer keeps them, so that one program serves workers of
 * several releases: a field that a release has not is absent, one that this program does not know is passed over.
 * Names count the same in {@code snake_case} and {@code camelCase}; of equal names the outermost counts.
 */
public final class WorkerFields
{
    private final Map<String, JsonNode> values = new HashMap<>();

    private WorkerFields() {}

    /// Lists are no single values: what is in them is left out.
    public static WorkerFields of(JsonNode answer)
    {
        WorkerFields fields = new WorkerFields();
        Deque<JsonNode> objects = new ArrayDeque<>();
        objects.add(answer);
        // level by level, so that the outermost comes first
        while (!objects.isEmpty()) {
            for (Map.Entry<String, JsonNode> field : objects.remove().properties()) {
                JsonNode value = field.getValue();
                if (value.isObject()) {
                    objects.add(value);
                }
                else if (value.isValueNode() && !value.isNull()) {
                    fields.values.putIfAbsent(snakeCase(field.getKey()), value);
                }
            }
        }
        return fields;
    }

    public Optional<String> text(String name)
    {
        return Optional.ofNullable(values.get(name))
                .map(JsonNode::asText)
                .filter(text -> !text.isBlank());
    }

    public OptionalLong number(String name)
    {
        JsonNode value = values.get(name);
        return value != null && value.isNumber() ? OptionalLong.of(value.asLong()) : OptionalLong.empty();
    }

    public OptionalDouble ratio(String name)
    {
        JsonNode value = values.get(name);
        return value != null && value.isNumber() ? OptionalDouble.of(value.asDouble()) : OptionalDouble.empty();
    }

    private static String snakeCase(String name)
    {
        return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }
}
