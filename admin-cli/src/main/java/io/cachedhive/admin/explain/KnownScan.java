package io.cachedhive.admin.explain;

import io.cachedhive.rules.RuleConditions;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * The known properties of a split of a scan. A property that is empty is unknown.
 *
 * @param partitionValues by column
 */
public record KnownScan(
        String schema,
        String table,
        Optional<String> user,
        Optional<String> source,
        Optional<Set<String>> clientTags,
        OptionalLong fileSize,
        OptionalLong scanBytes,
        Optional<Map<String, String>> partitionValues)
{
    public KnownScan
    {
        requireNonNull(schema, "schema is null");
        requireNonNull(table, "table is null");
        requireNonNull(user, "user is null");
        requireNonNull(source, "source is null");
        requireNonNull(clientTags, "clientTags is null");
        requireNonNull(fileSize, "fileSize is null");
        requireNonNull(scanBytes, "scanBytes is null");
        requireNonNull(partitionValues, "partitionValues is null");
    }

    /**
     * Returns the name of the first condition that a known property does not fulfil.
     */
    public Optional<String> mismatch(RuleConditions conditions, Instant now)
    {
        if (!conditions.matchesSchema(schema)) {
            return Optional.of("schema");
        }
        if (!conditions.matchesTable(table)) {
            return Optional.of("table");
        }
        if (user.isPresent() && !conditions.matchesUser(user.get())) {
            return Optional.of("user");
        }
        if (source.isPresent() && !conditions.matchesSource(source.get())) {
            return Optional.of("source");
        }
        if (clientTags.isPresent() && !conditions.matchesClientTags(clientTags.get())) {
            return Optional.of("clientTags");
        }
        if (fileSize.isPresent() && !conditions.matchesFileSize(fileSize.getAsLong())) {
            return Optional.of("fileSize");
        }
        if (scanBytes.isPresent() && !conditions.matchesScanBytes(scanBytes.getAsLong())) {
            return Optional.of("scanBytes");
        }
        if (partitionValues.isPresent() && !conditions.matchesPartition(column -> Optional.ofNullable(partitionValues.get().get(column)), now)) {
            return Optional.of("partitionAge");
        }
        return Optional.empty();
    }

    /**
     * Returns the options of {@code rules explain} for the properties that the conditions need and that are unknown. Whether a file is in a sample is always unknown.
     */
    public List<String> missing(RuleConditions conditions)
    {
        List<String> missing = new ArrayList<>();
        if (conditions.user().isPresent() && user.isEmpty()) {
            missing.add("--user");
        }
        if (conditions.source().isPresent() && source.isEmpty()) {
            missing.add("--source");
        }
        if (!conditions.clientTags().isEmpty() && clientTags.isEmpty()) {
            missing.add("--client-tags");
        }
        if (conditions.fileSize().isPresent() && fileSize.isEmpty()) {
            missing.add("--size");
        }
        if (conditions.scanBytes().isPresent() && scanBytes.isEmpty()) {
            missing.add("--scan-bytes");
        }
        if (conditions.partitionAge().isPresent() && partitionValues.isEmpty()) {
            missing.add("--partition");
        }
        return missing;
    }
}
