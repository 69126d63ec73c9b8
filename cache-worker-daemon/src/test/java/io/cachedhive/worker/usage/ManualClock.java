package io.cachedhive.worker.usage;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * A clock that a test advances.
 */
final class ManualClock
        extends Clock
{
    private Instant now = Instant.parse("2026-03-01T12:00:00Z");

    void advance(Duration duration)
    {
        now = now.plus(duration);
    }

    @Override
    public ZoneId getZone()
    {
        return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone)
    {
        throw new UnsupportedOperationException();
    }

    @Override
    public Instant instant()
    {
        return now;
    }
}
