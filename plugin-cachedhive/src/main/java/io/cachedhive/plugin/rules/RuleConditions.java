package io.cachedhive.plugin.rules;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import io.cachedhive.rules.PartitionAge;
import io.cachedhive.rules.SizeRange;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * When a rule matches: all conditions that it has are fulfilled. Patterns match the whole name.
 *
 * @param clientTags all of which the query has; empty for any
 * @param scanBytes of the scan, up to and with the split, in the order in which the splits are listed
 * @param sample the share of all files that matches, 0 to 1: always the same files, and those of a smaller share among those of a larger one
 */
record RuleConditions(
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
    static final RuleConditions ANY = new RuleConditions(
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalDouble.empty());

    // has nothing to do with the hash that finds owners: a sample is spread over all of them
    private static final HashFunction HASH = Hashing.murmur3_128(0x5A3D1E);

    RuleConditions
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

    /**
     * Whether the conditions that are the same for all splits of a scan are fulfilled.
     */
    boolean matchesScan(RuleScan scan)
    {
        return matches(schema, scan.table().getSchemaName())
                && matches(table, scan.table().getTableName())
                && matches(user, scan.user())
                && (source.isEmpty() || matches(source, scan.source().orElse("")))
                && scan.clientTags().containsAll(clientTags);
    }

    /**
     * Whether the others are fulfilled.
     *
     * @param scannedBytes of the scan, up to and with this split
     */
    boolean matchesSplit(RuleSplit split, long scannedBytes, Instant now)
    {
        return fileSize.map(range -> range.contains(split.fileSize())).orElse(true)
                && scanBytes.map(range -> range.contains(scannedBytes)).orElse(true)
                && (sample.isEmpty() || share(split.location()) < sample.getAsDouble())
                && partitionAge.map(age -> age.matches(split::partitionValue, now)).orElse(true);
    }

    private static boolean matches(Optional<Pattern> pattern, String value)
    {
        return pattern.isEmpty() || pattern.get().matcher(value).matches();
    }

    /**
     * Where the file is among all files, 0 to less than 1.
     */
    static double share(String location)
    {
        return (HASH.hashString(location, UTF_8).asLong() >>> 11) * 0x1.0p-53;
    }
}
