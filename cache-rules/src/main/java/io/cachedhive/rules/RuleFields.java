package io.cachedhive.rules;

import com.fasterxml.jackson.databind.JsonNode;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;

/**
 * Reads the fields of one JSON object of the rules file. Every error message names the object and the field.
 */
final class RuleFields
{
    private final String where;
    private final JsonNode object;

    /**
     * @param where the location of the object for error messages, such as {@code rule 2 ("big")}
     * @param names all fields that are allowed
     */
    RuleFields(String where, JsonNode object, Collection<String> names)
            throws RulesException
    {
        this.where = requireNonNull(where, "where is null");
        this.object = requireNonNull(object, "object is null");
        if (!object.isObject()) {
            throw new RulesException("%s is not an object but %s: write { ... }".formatted(where, object));
        }
        for (String name : (Iterable<String>) object::fieldNames) {
            if (!names.contains(name)) {
                throw new RulesException("%s has a field \"%s\", which is none: write one of %s".formatted(where, name, String.join(", ", names)));
            }
        }
    }

    RulesException invalid(String name, String problem)
    {
        return new RulesException("%s, \"%s\" is %s: %s".formatted(where, name, object.get(name), problem));
    }

    private Optional<JsonNode> find(String name)
    {
        return Optional.ofNullable(object.get(name));
    }

    boolean has(String name)
    {
        return object.has(name);
    }

    Optional<String> text(String name)
            throws RulesException
    {
        Optional<JsonNode> value = find(name);
        if (value.isPresent() && !value.get().isTextual()) {
            throw invalid(name, "write a string");
        }
        return value.map(JsonNode::textValue);
    }

    /**
     * Returns a string field that must be there.
     *
     * @param expected the part of the error message that describes a valid value
     */
    String required(String name, String expected)
            throws RulesException
    {
        return text(name).orElseThrow(() -> new RulesException("%s has no \"%s\": write %s".formatted(where, name, expected)));
    }

    /**
     * Parses a string field.
     *
     * @param expected the part of the error message that describes a valid value
     */
    <T> Optional<T> parsed(String name, Function<String, T> parser, String expected)
            throws RulesException
    {
        Optional<String> text = text(name);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(parser.apply(text.get()));
        }
        catch (RuntimeException e) {
            throw invalid(name, "%s (%s)".formatted(expected, firstLine(e)));
        }
    }

    private static String firstLine(RuntimeException e)
    {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    /**
     * Returns the strings of an array field, or an empty list if the field is absent.
     */
    List<String> texts(String name)
            throws RulesException
    {
        Optional<JsonNode> value = find(name);
        List<String> texts = new ArrayList<>();
        if (value.isPresent()) {
            if (!value.get().isArray() || value.get().isEmpty()) {
                throw invalid(name, "write [\"...\", \"...\"], with at least one string");
            }
            for (JsonNode element : value.get()) {
                if (!element.isTextual()) {
                    throw invalid(name, "write strings only");
                }
                texts.add(element.textValue());
            }
        }
        return texts;
    }

    OptionalDouble number(String name)
            throws RulesException
    {
        Optional<JsonNode> value = find(name);
        if (value.isEmpty()) {
            return OptionalDouble.empty();
        }
        if (!value.get().isNumber()) {
            throw invalid(name, "write a number");
        }
        return OptionalDouble.of(value.get().doubleValue());
    }

    Optional<RuleFields> object(String name, Collection<String> names)
            throws RulesException
    {
        Optional<JsonNode> value = find(name);
        return value.isEmpty() ? Optional.empty() : Optional.of(new RuleFields("%s, \"%s\"".formatted(where, name), value.get(), names));
    }
}
