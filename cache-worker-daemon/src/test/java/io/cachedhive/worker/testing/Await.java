package io.cachedhive.worker.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for what happens in other threads and processes.
 */
public final class Await
{
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private Await() {}

    public static void until(String what, BooleanSupplier condition)
    {
        until(what, DEADLINE, condition);
    }

    public static void until(String what, Duration limit, BooleanSupplier condition)
    {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("did not happen within %s: %s".formatted(limit, what));
            }
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }
    }
}
