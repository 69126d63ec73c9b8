package io.cachedhive.plugin.rules;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.rules.RuleConditions;

import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Whether scans and their splits fulfil the conditions of a rule.
 */
final class RuleMatching
{
    // has nothing to do with the hash that finds owners: a sample is spread over all of them
    private static final HashFunction HASH = Hashing.murmur3_128(0x5A3D1E);

    private RuleMatching() {}

    /**
     * Whether the conditions that are the same for all splits of a scan are fulfilled.
     */
    static boolean matchScan(RuleConditions conditions, RuleScan scan)
    {
        return matches(conditions.schema(), scan.table().schemaName())
                && matches(conditions.table(), scan.table().tableName())
                && matches(conditions.user(), scan.user())
                && matches(conditions.source(), scan.source().orElse(""))
                && scan.clientTags().containsAll(conditions.clientTags());
    }

    /**
     * Whether the others are fulfilled.
     *
     * @param scannedBytes of the scan, up to and with this split
     */
    static boolean matchSplit(RuleConditions conditions, ScanFile split, long scannedBytes, Instant now)
    {
        return conditions.fileSize().map(range -> range.contains(split.fileLength())).orElse(true)
                && conditions.scanBytes().map(range -> range.contains(scannedBytes)).orElse(true)
                && (conditions.sample().isEmpty() || share(split.location()) < conditions.sample().getAsDouble())
                && conditions.partitionAge().map(age -> age.matches(split::partitionValue, now)).orElse(true);
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
