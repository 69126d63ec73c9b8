package io.cachedhive.benchmark.scans;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

/**
 * Slows processes down: stops them (SIGSTOP) for most of each period, all at the same time, as a host does that has a share of its processors only.
 * They run on once this is closed.
 */
final class DutyCycle
        implements AutoCloseable
{
    private static final int SIGCONT = 18;
    private static final int SIGSTOP = 19;
    private static final Duration PERIOD = Duration.ofMillis(100);
    @SuppressWarnings("restricted") // kill(2)
    private static final MethodHandle KILL = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("kill"),
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

    private final List<Long> pids;
    private final CountDownLatch end = new CountDownLatch(1);
    private final Thread thread;

    private DutyCycle(List<Long> pids, double share)
    {
        this.pids = List.copyOf(pids);
        long runNanos = (long) (PERIOD.toNanos() * share);
        long stopNanos = PERIOD.toNanos() - runNanos;
        thread = Thread.ofPlatform().daemon().name("duty-cycle").start(() -> {
            try {
                boolean ended = false;
                while (!ended) {
                    signal(SIGSTOP);
                    ended = end.await(stopNanos, NANOSECONDS);
                    signal(SIGCONT);
                    ended = ended || end.await(runNanos, NANOSECONDS);
                }
            }
            catch (InterruptedException e) {
                throw new IllegalStateException("unexpected interrupt", e);
            }
            finally {
                signal(SIGCONT);
            }
        });
    }

    /**
     * @param share of the time in which the processes run, above 0 and below 1
     */
    static DutyCycle start(List<Long> pids, double share)
    {
        if (!(share > 0 && share < 1)) {
            throw new IllegalArgumentException("share is not between 0 and 1: " + share);
        }
        return new DutyCycle(pids, share);
    }

    private void signal(int signal)
    {
        for (long pid : pids) {
            try {
                // a process that has gone is missed by who waits for it
                int _ = (int) KILL.invokeExact((int) pid, signal);
            }
            catch (Throwable e) {
                throw new IllegalStateException("kill(2) could not be called", e);
            }
        }
    }

    @Override
    public void close()
    {
        end.countDown();
        try {
            thread.join();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
