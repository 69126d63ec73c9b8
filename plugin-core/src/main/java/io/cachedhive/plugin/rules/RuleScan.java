package io.cachedhive.plugin.rules;

import io.cachedhive.plugin.table.TableName;

import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * What rules ask of a scan as a whole.
 *
 * @param source what the client calls itself
 */
public record RuleScan(TableName table, String user, Optional<String> source, Set<String> clientTags)
{
    public RuleScan
    {
        requireNonNull(table, "table is null");
        requireNonNull(user, "user is null");
        requireNonNull(source, "source is null");
        clientTags = Set.copyOf(clientTags);
    }
}
