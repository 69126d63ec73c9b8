package io.cachedhive.plugin.preload;

import java.util.OptionalLong;
import java.util.function.LongSupplier;

import static com.google.common.base.Preconditions.checkArgument;
import static java.util.Objects.requireNonNull;

/**
 * Holds bytes back to so many a second, on average since the first.
 */
final class Pace
{
    private static final double NANOS_PER_SECOND = 1e9;

    private final OptionalLong bytesPerSecond;
    private final LongSupplier nanoTime;

    // guarded by this: when what was taken until now is paid for
    private long paidNanos;

    /**
     * @param bytesPerSecond empty for as fast as may be
     */
    Pace(OptionalLong bytesPerSecond, LongSupplier nanoTime)
    {
        bytesPerSecond.ifPresent(bytes -> checkArgument(bytes > 0, "bytesPerSecond is not positive: %s", bytes));
        this.bytesPerSecond = requireNonNull(bytesPerSecond, "bytesPerSecond is null");
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.paidNanos = nanoTime.getAsLong();
    }

    /**
     * How long to wait before more is taken.
     */
    synchronized long waitNanos()
    {
        return Math.max(0, paidNanos - nanoTime.getAsLong());
    }

    /**
     * @param bytes negative to give back what was taken and not used
     */
    synchronized void take(long bytes)
    {
        if (bytesPerSecond.isEmpty()) {
            return;
        }
        long now = nanoTime.getAsLong();
        long nanos = (long) (bytes * NANOS_PER_SECOND / bytesPerSecond.getAsLong());
        // what was not used while nothing was to be sent is not saved up
        paidNanos = (bytes > 0 && now - paidNanos > 0 ? now : paidNanos) + nanos;
    }
}
