package io.cachedhive.rules;

import io.cachedhive.protocol.wire.FillClass;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * One rule of the rules file: its conditions and its actions.
 *
 * @param name unique among the rules of a file
 * @param action what the cache does with matching reads
 * @param ttl the time to live of the blocks, at least one second
 * @param tableQuotaBytes the quota of each matching table; only for rules whose sole conditions are schema and table
 * @param conditionsText the conditions as JSON, as written in the file
 * @param definition the whole rule as JSON, as written in the file; rules with equal definitions are the same rule
 */
public record Rule(
        String name,
        RuleConditions conditions,
        RuleAction action,
        Optional<FillClass> fillClass,
        Optional<Duration> ttl,
        OptionalLong tableQuotaBytes,
        String conditionsText,
        String definition)
{
    public Rule
    {
        requireNonNull(name, "name is null");
        requireNonNull(conditions, "conditions is null");
        requireNonNull(action, "action is null");
        requireNonNull(fillClass, "fillClass is null");
        requireNonNull(ttl, "ttl is null");
        requireNonNull(tableQuotaBytes, "tableQuotaBytes is null");
        requireNonNull(conditionsText, "conditionsText is null");
        requireNonNull(definition, "definition is null");
    }
}
