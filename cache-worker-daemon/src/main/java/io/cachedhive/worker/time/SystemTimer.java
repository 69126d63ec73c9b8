package io.cachedhive.worker.time;

import io.airlift.log.Logger;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import static io.airlift.concurrent.Threads.daemonThreadsNamed;

/**
 * A timer that uses the system clock.
 */
public final class SystemTimer
        implements WorkerTimer, AutoCloseable
{
    private static final Logger log = Logger.get(SystemTimer.class);

    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, daemonThreadsNamed("worker-timer"));

    public SystemTimer()
    {
        // timeouts are cancelled far more often than they fire
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    @Override
    public Instant now()
    {
        return Instant.now();
    }

    @Override
    public long nanoTime()
    {
        return System.nanoTime();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task)
    {
        try {
            Future<?> future = executor.schedule(() -> runLogged(task), delay.toNanos(), TimeUnit.NANOSECONDS);
            return () -> future.cancel(false);
        }
        catch (RejectedExecutionException _) {
            // the timer is closed, so the task never runs
            return () -> {};
        }
    }

    private static void runLogged(Runnable task)
    {
        try {
            task.run();
        }
        catch (RuntimeException e) {
            log.error(e, "Timed task failed");
        }
    }

    @Override
    public void close()
    {
        executor.shutdownNow();
    }
}
