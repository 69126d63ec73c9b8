package io.cachedhive.tests.containers;

import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Waiting for a condition of other hosts, which tell nobody when they change.
 */
final class Await
{
    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

    private Await() {}

    /**
     * Returns when the condition holds.
     *
     * @throws AssertionError if it does not hold in time
     */
    static void until(String what, Duration timeout, Callable<Boolean> condition)
            throws Exception
    {
        long start = System.nanoTime();
        while (!condition.call()) {
            if (System.nanoTime() - start > timeout.toNanos()) {
                throw new AssertionError("not within %s: %s".formatted(timeout, what));
            }
            Thread.sleep(POLL_INTERVAL);
        }
    }

    /**
     * Returns as soon as something accepts connections.
     *
     * @throws AssertionError if nothing does in time
     */
    static void untilListening(String address, int port, Duration timeout)
            throws Exception
    {
        until("%s:%s accepts connections".formatted(address, port), timeout, () -> Ports.isOpen(address, port));
    }
}
