package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.rules.RuleAction;
import io.cachedhive.rules.RuleConditions;

import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * @param name unique among the rules of a file
 * @param tableQuotaBytes of each table that its conditions match, over all cache workers of the ring; only of rules without other conditions than those on names
 * @param conditionsText as they stand in the file
 * @param problem why the rule never decides, with a fix; empty if it can
 * @param definition all of the rule as it stands in the file: rules with the same one are the same
 */
public record CacheRule(
        String name,
        RuleConditions conditions,
        RuleAction action,
        CacheDecision decision,
        OptionalLong tableQuotaBytes,
        Optional<String> problem,
        String conditionsText,
        String definition)
{
    public CacheRule
    {
        requireNonNull(name, "name is null");
        requireNonNull(conditions, "conditions is null");
        requireNonNull(action, "action is null");
        requireNonNull(decision, "decision is null");
        requireNonNull(tableQuotaBytes, "tableQuotaBytes is null");
        requireNonNull(problem, "problem is null");
        requireNonNull(conditionsText, "conditionsText is null");
        requireNonNull(definition, "definition is null");
    }
}
