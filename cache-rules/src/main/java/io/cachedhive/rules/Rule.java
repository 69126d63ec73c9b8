package io.cachedhive.rules;

import io.cachedhive.protocol.wire.FillClass;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * One rule as it stands in the file: its conditions, of which those that are missing match anything, and what it decides.
 *
 * @param name unique among the rules of a file
 * @param clientTags all of which the query has; empty for any
 * @param scanBytes of the scan, up to and with the split
 * @param sample the share of all files, above 0 and at most 1
 * @param bypass what matches is read without the cache
 * @param ttl of the blocks, at least a second
 * @param tableQuotaBytes of each table that its conditions match; only of rules without other conditions than those on names
 * @param conditionsText as they stand in the file
 * @param definition all of the rule as it stands in the file: rules with the same one are the same
 */
public record Rule(
        String name,
        Optional<Pattern> schema,
        Optional<Pattern> table,
        Optional<Pattern> user,
        Optional<Pattern> source,
        Set<String> clientTags,
        Optional<PartitionAge> partitionAge,
        Optional<SizeRange> fileSize,
        Optional<SizeRange> scanBytes,
        OptionalDouble sample,
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
        requireNonNull(schema, "schema is null");
        requireNonNull(table, "table is null");
        requireNonNull(user, "user is null");
        requireNonNull(source, "source is null");
        clientTags = Set.copyOf(clientTags);
        requireNonNull(partitionAge, "partitionAge is null");
        requireNonNull(fileSize, "fileSize is null");
        requireNonNull(scanBytes, "scanBytes is null");
        requireNonNull(sample, "sample is null");
        requireNonNull(fillClass, "fillClass is null");
        requireNonNull(ttl, "ttl is null");
        requireNonNull(tableQuotaBytes, "tableQuotaBytes is null");
        requireNonNull(conditionsText, "conditionsText is null");
        requireNonNull(definition, "definition is null");
    }
}
