package io.cachedhive.worker.fetch;

import java.time.Duration;
import java.util.function.DoubleSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Computes the pauses before a throttled request is repeated: exponential backoff with a limit and random jitter, so
 * that requests that were throttled together are not repeated together.
 */
public final class Pauses
{
    private static final Duration FIRST = Duration.ofMillis(500);
    private static final Duration LONGEST = Duration.ofSeconds(4);

    private final DoubleSupplier random;

    /**
     * @param random returns numbers from 0 to 1
     */
    public Pauses(DoubleSupplier random)
    {
        this.random = requireNonNull(random, "random is null");
    }

    /**
     * Returns the pause after a number of refusals.
     *
     * @param refusals the number of refusals so far, at least one
     */
    Duration after(int refusals)
    {
        long longest = Math.min(LONGEST.toMillis(), FIRST.toMillis() << Math.min(refusals - 1, 16));
        // at least half of the maximum
        return Duration.ofMillis(longest / 2 + (long) (longest / 2.0 * random.getAsDouble()));
    }
}
