package io.cachedhive.worker.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.airlift.log.Logger;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Counts rejected peers, and logs at most one per minute so that a peer cannot flood the log.
 */
public final class PeerRefusals
{
    private static final Logger log = Logger.get(PeerRefusals.class);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;
    @GuardedBy("this")
    private long count;
    @GuardedBy("this")
    private long countAtLastLog;
    @GuardedBy("this")
    private long lastLog;

    public PeerRefusals()
    {
        this(System::nanoTime);
    }

    PeerRefusals(LongSupplier nanoTime)
    {
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /**
     * Counts a rejected peer.
     *
     * @return whether it was logged
     */
    synchronized boolean refused(String peer, String reason)
    {
        count++;
        long now = nanoTime.getAsLong();
        if (countAtLastLog > 0 && now - lastLog < QUIET_NANOS) {
            return false;
        }
        log.warn("Closed the connection of %s: %s (%s closed since the last message)", peer, reason, count - countAtLastLog);
        countAtLastLog = count;
        lastLog = now;
        return true;
    }

    public synchronized long count()
    {
        return count;
    }
}
