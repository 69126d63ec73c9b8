package io.cachedhive.rules;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The parsed content of a rules file.
 *
 * @param mode one of {@link #MODES}; empty if the file does not set it
 */
public record RulesFile(Optional<String> mode, List<Rule> rules)
{
    /**
     * The values of the catalog property {@code cachedhive.mode}.
     */
    public static final List<String> MODES = List.of("ON", "READ_ONLY", "SHADOW", "OFF");

    public RulesFile
    {
        requireNonNull(mode, "mode is null");
        rules = List.copyOf(rules);
    }
}
