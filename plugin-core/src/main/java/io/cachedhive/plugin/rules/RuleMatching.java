package io.cachedhive.plugin.rules;

import com.google.common.hash.HashFunction;
import com.google.common.hash.Hashing;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.rules.RuleConditions;

import java.time.Instant;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Matches scans and their splits with the conditions of a rule.
 */
final class RuleMatching
{
    // differs from the hash that finds owners, so that a sample is spread over all of them
    private static final HashFunction HASH = Hashing.murmur3_128(0x5A3D1E);

    private RuleMatching() {}

    /**
     * Returns whether a scan fulfils the conditions that are the same for all its splits.
     */
    static boolean matchScan(RuleConditions conditions, RuleScan scan)
    {
        return conditions.matchesSchema(scan.table().schemaName())
                && conditions.matchesTable(scan.table().tableName())
                && conditions.matchesUser(scan.user())
                && conditions.matchesSource(scan.source().orElse(""))
                && conditions.matchesClientTags(scan.clientTags());
    }

    /**
     * Returns whether a split fulfils the other conditions.
     *
     * @param scannedBytes of the scan, up to and with this split
     */
    static boolean matchSplit(RuleConditions conditions, ScanFile split, long scannedBytes, Instant now)
    {
        return conditions.matchesFileSize(split.fileLength())
                && conditions.matchesScanBytes(scannedBytes)
                && (conditions.sample().isEmpty() || share(split.location()) < conditions.sample().getAsDouble())
                && conditions.matchesPartition(split::partitionValue, now);
    }

    /**
     * Returns the position of a file among all files, 0 to less than 1.
     */
    private static double share(String location)
    {
        return (HASH.hashString(location, UTF_8).asLong() >>> 11) * 0x1.0p-53;
    }
}
