package io.cachedhive.testing;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Waits for what other threads, processes and hosts bring about without a word. It fails with an {@link AssertionError}, so that tests of JUnit and of TestNG can use it.
 */
public final class Await
{
    /**
     * How long to wait for what surely comes: longer than a busy machine needs.
     */
    public static final Duration DEADLINE = Duration.ofMinutes(2);

    /**
     * The pause between two polls that are queries or cost as much.
     */
    public static final Duration QUERY_PAUSE = Duration.ofMillis(50);

    private static final Duration PAUSE = Duration.ofMillis(5);

    private Await() {}

    public interface Condition
    {
        boolean holds()
                throws Exception;
    }

    public interface Assertions
    {
        void check()
                throws Exception;
    }

    public interface Source<T>
    {
        Optional<T> find()
                throws Exception;
    }

    /**
     * Waits until the condition holds, for two minutes at most.
     */
    public static void until(String what, Condition condition)
    {
        until(what, DEADLINE, condition);
    }

    /**
     * Waits until the condition holds.
     *
     * @throws AssertionError if it does not hold in time, or cannot be asked for
     */
    public static void until(String what, Duration deadline, Condition condition)
    {
        until(what, deadline, PAUSE, condition);
    }

    public static void until(String what, Duration deadline, Duration pause, Condition condition)
    {
        untilPresent(what, deadline, pause, () -> condition.holds() ? Optional.of(true) : Optional.empty());
    }

    /**
     * Waits until the assertions hold, for two minutes at most. The cause of the failure says which one did not hold at last.
     */
    public static void untilAsserted(String what, Assertions assertions)
    {
        untilAsserted(what, DEADLINE, PAUSE, assertions);
    }

    public static void untilAsserted(String what, Duration deadline, Duration pause, Assertions assertions)
    {
        AtomicReference<AssertionError> last = new AtomicReference<>();
        Source<Boolean> source = () -> {
            try {
                assertions.check();
                return Optional.of(true);
            }
            catch (AssertionError e) {
                last.set(e);
                return Optional.empty();
            }
        };
        poll(what, deadline, pause, source).orElseThrow(() -> failure(what, deadline, last.get()));
    }

    /**
     * Waits until there is a value, and returns it.
     */
    public static <T> T untilPresent(String what, Duration deadline, Duration pause, Source<T> source)
    {
        return poll(what, deadline, pause, source).orElseThrow(() -> failure(what, deadline, null));
    }

    private static <T> Optional<T> poll(String what, Duration deadline, Duration pause, Source<T> source)
    {
        long start = System.nanoTime();
        try {
            while (true) {
                Optional<T> found = source.find();
                Duration left = deadline.minusNanos(System.nanoTime() - start);
                if (found.isPresent() || !left.isPositive()) {
                    return found;
                }
                // the last poll is at the deadline
                Thread.sleep(left.compareTo(pause) < 0 ? left : pause);
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(what, deadline, e);
        }
        catch (Exception e) {
            throw failure(what, deadline, e);
        }
    }

    private static AssertionError failure(String what, Duration deadline, Throwable cause)
    {
        // test reports often have only the first message
        String last = cause == null || cause instanceof InterruptedException ? "" : ", last: " + cause.getMessage();
        return new AssertionError("not within %s: %s%s".formatted(deadline, what, last), cause);
    }
}
