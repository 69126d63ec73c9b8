package io.cachedhive.rules;

import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * The conditions of a rule. The rule matches when every condition that is present holds; an absent condition matches
 * anything. Patterns match the whole name.
 *
 * @param clientTags the tags that the query must have, all of them; empty for any
 * @param scanBytes the bytes of the scan up to and including the split, in the order in which splits are listed
 * @param sample the fraction of files that match, above 0 and at most 1; the choice is stable, and a larger fraction
 * includes the files of a smaller one
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
