package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.rules.PreloadSchedule;
import io.cachedhive.rules.Rule;
import io.cachedhive.rules.RulesException;
import io.cachedhive.rules.RulesFile;
import io.cachedhive.rules.RulesFile.Unreachable;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static com.google.common.collect.ImmutableList.toImmutableList;
import static com.google.common.collect.ImmutableMap.toImmutableMap;
import static java.util.Objects.requireNonNull;

/**
 * Makes of a rules file what decides for splits. What may stand in it is known to {@link io.cachedhive.rules.RulesParser}, which {@code cache-admin} uses as well.
 */
final class RulesParser
{
    private RulesParser() {}

    /**
     * @param mode that the file says, if any
     */
    record ParsedRules(Optional<CacheMode> mode, List<CacheRule> rules, List<PreloadSchedule> preloads)
    {
        ParsedRules
        {
            requireNonNull(mode, "mode is null");
            rules = List.copyOf(rules);
            preloads = List.copyOf(preloads);
        }
    }

    /**
     * @param json the file's content
     * @throws RulesException if any of it is wrong
     */
    static ParsedRules parse(byte[] json)
            throws RulesException
    {
        RulesFile file = io.cachedhive.rules.RulesParser.parse(json);
        Map<Rule, String> problems = file.unreachable().stream().collect(toImmutableMap(Unreachable::rule, Unreachable::problem));
        return new ParsedRules(
                file.mode().map(CacheMode::valueOf),
                file.rules().stream().map(rule -> rule(rule, Optional.ofNullable(problems.get(rule)))).collect(toImmutableList()),
                file.preloads());
    }

    private static CacheRule rule(Rule rule, Optional<String> problem)
    {
        return new CacheRule(rule.name(), rule.conditions(), rule.action(), decision(rule), rule.tableQuotaBytes(), problem, rule.conditionsText(), rule.definition());
    }

    private static CacheDecision decision(Rule rule)
    {
        return switch (rule.action()) {
            case CACHE -> CacheDecision.cache(rule.fillClass(), rule.ttl().map(ttl -> OptionalLong.of(ttl.toMillis())).orElseGet(OptionalLong::empty));
            case READ_ONLY -> CacheDecision.CACHE.withoutFill();
            case SHADOW -> CacheDecision.SHADOW;
            case BYPASS -> CacheDecision.BYPASS;
        };
    }
}
