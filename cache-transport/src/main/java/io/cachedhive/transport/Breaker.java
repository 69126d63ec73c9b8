package io.cachedhive.transport;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Keeps readers from waiting for a worker that does not answer reads: opens after some silent answers in a row, and closes when a probe is answered.
 * Until a read is answered after that, one more silence opens it again: a worker that answers probes only costs one time-out a period.
 *
 * <p>Late answers of earlier requests do not close it: a worker that needs seconds for each answer would be let in again and again.
 */
final class Breaker
{
    static final int SILENCES = 3;

    private final LongSupplier nanoTime;
    private final long probeNanos;

    // the number of silent answers in a row; OPEN once it has been enough of them
    private final AtomicLong silences = new AtomicLong();
    private final AtomicLong nextProbeNanos = new AtomicLong();

    Breaker(LongSupplier nanoTime, long probeNanos)
    {
        this.nanoTime = nanoTime;
        this.probeNanos = probeNanos;
    }

    boolean isOpen()
    {
        return silences.get() >= SILENCES;
    }

    /**
     * A read was answered.
     */
    void answered()
    {
        // a plain read for the case that nothing is wrong: every answer comes here
        long count = silences.get();
        if (count != 0 && count < SILENCES) {
            silences.compareAndSet(count, 0);
        }
    }

    void silent()
    {
        if (silences.incrementAndGet() == SILENCES) {
            nextProbeNanos.set(nanoTime.getAsLong() + probeNanos);
        }
    }

    /**
     * Whether it is time to probe; true at most once in a period.
     */
    boolean claimProbe()
    {
        long due = nextProbeNanos.get();
        long now = nanoTime.getAsLong();
        return isOpen() && now - due >= 0 && nextProbeNanos.compareAndSet(due, now + probeNanos);
    }

    void probeAnswered()
    {
        while (true) {
            long count = silences.get();
            if (count < SILENCES || silences.compareAndSet(count, SILENCES - 1)) {
                return;
            }
        }
    }

    /**
     * A new connection stands: perhaps another process.
     */
    void reset()
    {
        silences.set(0);
    }
}
