package io.cachedhive.rules;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What a rules file says.
 *
 * @param mode one of {@link #MODES}, if it says one
 */
public record RulesFile(Optional<String> mode, List<Rule> rules)
{
    /**
     * As the catalog's property {@code cachedhive.mode} has them.
     */
    public static final List<String> MODES = List.of("ON", "READ_ONLY", "SHADOW", "OFF");

    public RulesFile
    {
        requireNonNull(mode, "mode is null");
        rules = List.copyOf(rules);
    }
}
