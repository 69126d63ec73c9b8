package io.cachedhive.testing.cluster.sql;

import java.util.Locale;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * A column of a result: its name and Trino's name of its type, with parameters, such as {@code decimal(12,2)}.
 */
public record ResultColumn(String name, String type)
{
    private static final Set<String> NUMBERS = Set.of("tinyint", "smallint", "integer", "bigint", "real", "double", "decimal");

    public ResultColumn
    {
        requireNonNull(name, "name is null");
        requireNonNull(type, "type is null");
    }

    /// The type without its parameters.
    public String baseType()
    {
        int parameters = type.indexOf('(');
        return (parameters < 0 ? type : type.substring(0, parameters)).strip().toLowerCase(Locale.ROOT);
    }

    public boolean isNumber()
    {
        return NUMBERS.contains(baseType());
    }
}
