package io.cachedhive.client;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for what threads of their own bring about.
 */
public final class Await
{
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Await() {}

    public static void until(String what, BooleanSupplier condition)
    {
        within(PATIENCE, what, condition);
    }

    /**
     * @return how long it took
     */
    public static Duration within(Duration limit, String what, BooleanSupplier condition)
    {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new AssertionError("not within %s: %s".formatted(limit, what));
            }
            LockSupport.parkNanos(Duration.ofMillis(2).toNanos());
        }
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /**
     * Until the assertions hold; the last failure otherwise.
     */
    public static void untilAsserted(Callable<?> assertions)
            throws Exception
    {
        long start = System.nanoTime();
        while (true) {
            try {
                assertions.call();
                return;
            }
            catch (AssertionError e) {
                if (System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
            }
        }
    }
}
