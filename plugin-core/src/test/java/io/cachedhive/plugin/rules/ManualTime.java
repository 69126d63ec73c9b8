package io.cachedhive.plugin.rules;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * A clock, and a timer beside it, that are moved by hand.
 */
final class ManualTime
        implements InstantSource
{
    private Instant now = Instant.parse("2024-03-08T12:00:00Z");
    private long nanos = 1_000;

    void advance(Duration duration)
    {
        now = now.plus(duration);
        nanos += duration.toNanos();
    }

    @Override
    public Instant instant()
    {
        return now;
    }

    long nanoTime()
    {
        return nanos;
    }
}
