package io.cachedhive.tests.cluster;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Waiting for a condition of other processes, which tell nobody when they change.
 */
final class Await
{
    private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

    private Await() {}

    /**
     * Returns when the condition holds, with how long that took.
     *
     * @throws AssertionError if it does not hold in time
     */
    static Duration until(String what, Duration timeout, Callable<Boolean> condition)
            throws Exception
    {
        long start = System.nanoTime();
        while (!condition.call()) {
            if (System.nanoTime() - start > timeout.toNanos()) {
                throw new AssertionError("not within %s: %s".formatted(timeout, what));
            }
            pause();
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    static void pause()
    {
        try {
            Thread.sleep(POLL_INTERVAL);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting", e);
        }
    }
}
