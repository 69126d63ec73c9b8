package io.cachedhive.plugin.rules;

import com.google.common.collect.ImmutableList;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.rules.RuleAction;
import io.cachedhive.rules.RuleConditions;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * Rules that are in force together: the first that matches decides. The last one is the default, which matches everything and caches it.
 *
 * @param loaded when they came into force
 */
public record CacheRules(List<CountedRule> rules, Instant loaded)
{
    static final String DEFAULT_NAME = io.cachedhive.rules.RulesParser.DEFAULT_NAME;

    private static final CacheRule DEFAULT = new CacheRule(
            DEFAULT_NAME,
            RuleConditions.ANY,
            RuleAction.CACHE,
            CacheDecision.CACHE,
            OptionalLong.empty(),
            Optional.empty(),
            "{}",
            DEFAULT_NAME);

    public CacheRules
    {
        rules = List.copyOf(rules);
        requireNonNull(loaded, "loaded is null");
    }

    public record CountedRule(CacheRule rule, RuleCounter counter)
    {
        public CountedRule
        {
            requireNonNull(rule, "rule is null");
            requireNonNull(counter, "counter is null");
        }

        public boolean isDefault()
        {
            return rule == DEFAULT;
        }
    }

    /**
     * @param previous rules, from which those that stay as they are keep their counters
     */
    static CacheRules of(List<CacheRule> rules, Instant loaded, Optional<CacheRules> previous)
    {
        ImmutableList.Builder<CountedRule> counted = ImmutableList.builder();
        rules.forEach(rule -> counted.add(count(rule, previous)));
        counted.add(count(DEFAULT, previous));
        return new CacheRules(counted.build(), loaded);
    }

    private static CountedRule count(CacheRule rule, Optional<CacheRules> previous)
    {
        RuleCounter counter = previous.stream()
                .flatMap(before -> before.rules().stream())
                .filter(before -> before.rule().name().equals(rule.name()) && before.rule().definition().equals(rule.definition()))
                .map(CountedRule::counter)
                .findFirst()
                .orElseGet(RuleCounter::new);
        return new CountedRule(rule, counter);
    }
}
