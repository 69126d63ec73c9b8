package io.cachedhive.rules;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The parsed content of a rules file.
 *
 * @param mode one of {@link #MODES}; empty if the file does not set it
 * @param preloads the preload schedules
 */
public record RulesFile(Optional<String> mode, List<Rule> rules, List<PreloadSchedule> preloads)
{
    /**
     * The values of the catalog property {@code cachedhive.mode}.
     */
    public static final List<String> MODES = List.of("ON", "READ_ONLY", "SHADOW", "OFF");

    /**
     * A rule that never decides.
     *
     * @param before the first rule that matches everything that the rule matches
     */
    public record Unreachable(Rule rule, Rule before)
    {
        /**
         * Returns the problem and its fix in one sentence.
         */
        public String problem()
        {
            return "rule %s never decides, because rule %s before it matches all its splits: move it before that rule, or remove it".formatted(rule.name(), before.name());
        }
    }

    public RulesFile
    {
        requireNonNull(mode, "mode is null");
        rules = List.copyOf(rules);
        preloads = List.copyOf(preloads);
    }

    /**
     * Returns the rules that never decide, because a rule before them matches everything that they match. A rule with a quota is not among them: its quota applies anyway.
     */
    public List<Unreachable> unreachable()
    {
        List<Unreachable> unreachable = new ArrayList<>();
        for (int i = 0; i < rules.size(); i++) {
            Rule rule = rules.get(i);
            if (rule.tableQuotaBytes().isEmpty()) {
                rules.subList(0, i).stream()
                        .filter(before -> before.conditions().covers(rule.conditions()))
                        .findFirst()
                        .ifPresent(before -> unreachable.add(new Unreachable(rule, before)));
            }
        }
        return unreachable;
    }
}
