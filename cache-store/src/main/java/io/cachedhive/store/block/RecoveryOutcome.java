package io.cachedhive.store.block;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * A finding of opening the store and the decision about it: one per directory, and one per problem. Logged once.
 *
 * @param where file or directory
 * @param decision one sentence with the finding and the action
 */
public record RecoveryOutcome(RecoveryFinding finding, Path where, String decision)
{
    public RecoveryOutcome
    {
        requireNonNull(finding, "finding is null");
        requireNonNull(where, "where is null");
        requireNonNull(decision, "decision is null");
    }

    @Override
    public String toString()
    {
        return "%s: %s: %s".formatted(finding, where, decision);
    }
}
