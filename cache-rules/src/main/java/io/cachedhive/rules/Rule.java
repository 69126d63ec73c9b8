package io.cachedhive.rules;

import io.cachedhive.protocol.wire.FillClass;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

import static java.util.Objects.requireNonNull;

/**
 * One rule as it stands in the file: its conditions and what it decides.
 *
 * @param name unique among the rules of a file
 * @param bypass what matches is read without the cache
 * @param ttl of the blocks, at least a second
 * @param tableQuotaBytes of each table that its conditions match; only of rules without other conditions than those on names
 * @param conditionsText as they stand in the file
 * @param definition all of the rule as it stands in the file: rules with the same one are the same
 */
public record Rule(
        String name,
        RuleConditions conditions,
        boolean bypass,
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
        requireNonNull(fillClass, "fillClass is null");
        requireNonNull(ttl, "ttl is null");
        requireNonNull(tableQuotaBytes, "tableQuotaBytes is null");
        requireNonNull(conditionsText, "conditionsText is null");
        requireNonNull(definition, "definition is null");
    }
}
