package io.cachedhive.rules;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * When a rule matches: all conditions that it has are fulfilled, and those that are missing match anything. Patterns match the whole name.
 *
 * @param clientTags all of which the query has; empty for any
 * @param scanBytes of the scan, up to and with the split, in the order in which the splits are listed
 * @param sample the share of all files that matches, above 0 and at most 1: always the same files, and those of a smaller share among those of a larger one
 */
public record RuleConditions(
        Optional<Pattern> schema,
        Optional<Pattern> table,
        Optional<Pattern> user,
        Optional<Pattern> source,
        Set<String> clientTags,
        Optional<PartitionAge> partitionAge,
        Optional<SizeRange> fileSize,
        Optional<SizeRange> scanBytes,
        OptionalDouble sample)
{
    public static final RuleConditions ANY = new RuleConditions(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalDouble.empty());

    public RuleConditions
    {
        requireNonNull(schema, "schema is null");
        requireNonNull(table, "table is null");
        requireNonNull(user, "user is null");
        requireNonNull(source, "source is null");
        clientTags = Set.copyOf(clientTags);
        requireNonNull(partitionAge, "partitionAge is null");
        requireNonNull(fileSize, "fileSize is null");
        requireNonNull(scanBytes, "scanBytes is null");
        requireNonNull(sample, "sample is null");
    }
}
