package io.cachedhive.rules;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
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

    public boolean matchesSchema(String name)
    {
        return matches(schema, name);
    }

    public boolean matchesTable(String name)
    {
        return matches(table, name);
    }

    public boolean matchesUser(String name)
    {
        return matches(user, name);
    }

    public boolean matchesSource(String name)
    {
        return matches(source, name);
    }

    private static boolean matches(Optional<Pattern> pattern, String value)
    {
        return pattern.isEmpty() || pattern.get().matcher(value).matches();
    }

    public boolean matchesClientTags(Set<String> tags)
    {
        return tags.containsAll(clientTags);
    }

    public boolean matchesFileSize(long bytes)
    {
        return fileSize.isEmpty() || fileSize.get().contains(bytes);
    }

    /**
     * @param bytes of the scan up to and including the split
     */
    public boolean matchesScanBytes(long bytes)
    {
        return scanBytes.isEmpty() || scanBytes.get().contains(bytes);
    }

    /**
     * @param values returns the value of a partition column, or empty if the table has no such column
     */
    public boolean matchesPartition(Function<String, Optional<String>> values, Instant now)
    {
        return partitionAge.isEmpty() || partitionAge.get().matches(values, now);
    }

    /**
     * Returns whether these conditions match everything that other conditions match. May return false although they do, for different patterns with the same matches.
     */
    public boolean covers(RuleConditions other)
    {
        return covers(schema, other.schema)
                && covers(table, other.table)
                && covers(user, other.user)
                && covers(source, other.source)
                && other.clientTags.containsAll(clientTags)
                && (partitionAge.isEmpty() || partitionAge.equals(other.partitionAge))
                && (fileSize.isEmpty() || other.fileSize.filter(fileSize.get()::covers).isPresent())
                && (scanBytes.isEmpty() || other.scanBytes.filter(scanBytes.get()::covers).isPresent())
                && (sample.isEmpty() || (other.sample.isPresent() && other.sample.getAsDouble() <= sample.getAsDouble()));
    }

    private static boolean covers(Optional<Pattern> pattern, Optional<Pattern> other)
    {
        return pattern.isEmpty() || pattern.map(Pattern::pattern).equals(other.map(Pattern::pattern));
    }
}
