package io.cachedhive.store;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The result of a flush.
 *
 * @param files number of file versions dropped
 * @param durable false if a crash may bring them back until they are flushed again
 * @param problem one sentence about bytes that are no longer served but not overwritten, or that may come back after a
 *         crash; empty if there is no problem
 */
public record FlushResult(long files, boolean durable, Optional<String> problem)
{
    public FlushResult
    {
        requireNonNull(problem, "problem is null");
    }
}
