package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.context.CacheDecision;

import static java.util.Objects.requireNonNull;

/**
 * @param name unique among the rules of a file
 * @param conditionsText as they stand in the file
 * @param definition all of the rule as it stands in the file: rules with the same one are the same
 */
record CacheRule(String name, RuleConditions conditions, CacheDecision decision, String conditionsText, String definition)
{
    CacheRule
    {
        requireNonNull(name, "name is null");
        requireNonNull(conditions, "conditions is null");
        requireNonNull(decision, "decision is null");
        requireNonNull(conditionsText, "conditionsText is null");
        requireNonNull(definition, "definition is null");
    }
}
