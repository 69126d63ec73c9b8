package io.cachedhive.store.block;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * What was found when the store was opened and what was decided: one for each directory, and one for each doubt. Logged once.
 *
 * @param where file or directory
 * @param decision one sentence: what was found, what the store does about it
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
