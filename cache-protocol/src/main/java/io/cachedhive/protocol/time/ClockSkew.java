package io.cachedhive.protocol.time;

import java.time.Duration;

/**
 * Bounds the times of rings, tombstones and pins, which another host set by its own clock. A record from the far future
 * would outrank and outlive all records that follow it.
 */
public final class ClockSkew
{
    /**
     * The largest difference between the clock of the host that created a record and the clock of this host.
     */
    public static final Duration MAX_AHEAD = Duration.ofHours(2);

    private ClockSkew() {}

    /**
     * Returns whether the time of a record is more than {@link #MAX_AHEAD} after the current time.
     *
     * @param millis the time of the record, in milliseconds since the Unix epoch
     * @param nowMillis the current time, in milliseconds since the Unix epoch
     */
    public static boolean isAhead(long millis, long nowMillis)
    {
        return millis > nowMillis + MAX_AHEAD.toMillis();
    }
}
