package io.cachedhive.worker.fetch;

import java.time.Duration;
import java.util.function.DoubleSupplier;

import static java.util.Objects.requireNonNull;

/**
 * How long to wait before an origin is asked again that refused a request as one too many: twice as long each time, up to a limit, and a random part of it less,
 * so that those who were refused together do not come back together.
 */
public final class Pauses
{
    private static final Duration FIRST = Duration.ofMillis(500);
    private static final Duration LONGEST = Duration.ofSeconds(4);

    private final DoubleSupplier random;

    /**
     * @param random from 0 to 1
     */
    public Pauses(DoubleSupplier random)
    {
        this.random = requireNonNull(random, "random is null");
    }

    /**
     * @param refusals so far, at least one
     */
    Duration after(int refusals)
    {
        long longest = Math.min(LONGEST.toMillis(), FIRST.toMillis() << Math.min(refusals - 1, 16));
        // at least the half of it
        return Duration.ofMillis(longest / 2 + (long) (longest / 2.0 * random.getAsDouble()));
    }
}
