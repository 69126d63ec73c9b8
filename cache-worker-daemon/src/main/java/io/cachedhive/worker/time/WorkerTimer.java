package io.cachedhive.worker.time;

import java.time.Duration;
import java.time.Instant;

/**
 * The clock and scheduler of a worker. Tests control its time.
 */
public interface WorkerTimer
{
    Instant now();

    long nanoTime();

    /**
     * Schedules a task.
     *
     * @param task runs on the timer's only thread, so it must pass on work that may block
     */
    Scheduled schedule(Duration delay, Runnable task);

    interface Scheduled
    {
        /**
         * Cancels the task; has no effect if it has already run.
         */
        void cancel();
    }
}
