package io.cachedhive.store;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * @param files file versions that were known, and are not any more
 * @param durable false if they may come back after a crash, until they are flushed again
 * @param problem one sentence about what is not served any more, but could not be overwritten, or may come back after a crash; empty if nothing is left
 */
public record FlushResult(long files, boolean durable, Optional<String> problem)
{
    public FlushResult
    {
        requireNonNull(problem, "problem is null");
    }
}
