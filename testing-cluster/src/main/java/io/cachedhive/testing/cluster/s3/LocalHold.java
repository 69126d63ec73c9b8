package io.cachedhive.testing.cluster.s3;

import java.time.Duration;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/** A hold in the process of the server; the threads of the held requests wait on it. */
final class LocalHold
        implements S3Hold
{
    private final Rule rule;
    private final Consumer<LocalHold> onRelease;
    private int held;
    private int mostHeld;
    private boolean released;

    LocalHold(Rule rule, Consumer<LocalHold> onRelease)
    {
        this.rule = requireNonNull(rule, "rule is null");
        this.onRelease = requireNonNull(onRelease, "onRelease is null");
    }

    Rule rule()
    {
        return rule;
    }

    /** Returns when the hold is released; at once if it was. */
    synchronized void await()
    {
        if (released) {
            return;
        }
        held++;
        mostHeld = Math.max(mostHeld, held);
        notifyAll();
        if (rule.releaseAtCount() > 0 && held >= rule.releaseAtCount()) {
            release();
        }
        try {
            while (!released) {
                wait();
            }
        }
        catch (InterruptedException _) {
            // the server stops
            Thread.currentThread().interrupt();
        }
        finally {
            held--;
        }
    }

    @Override
    public synchronized int heldCount()
    {
        return held;
    }

    synchronized int mostHeldCount()
    {
        return mostHeld;
    }

    @Override
    public synchronized void awaitHeld(int count, Duration timeout)
    {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            while (mostHeld < count) {
                long leftMillis = (deadline - System.nanoTime()) / 1_000_000;
                if (leftMillis <= 0) {
                    throw new IllegalStateException("%s GETs were held within %s, not %s: %s".formatted(mostHeld, timeout, count, rule));
                }
                wait(leftMillis);
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void release()
    {
        synchronized (this) {
            released = true;
            notifyAll();
        }
        onRelease.accept(this);
    }
}
