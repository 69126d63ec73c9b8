package io.cachedhive.worker.time;

import java.time.Duration;
import java.time.Instant;

/**
 * Time and what shall happen later: tests move it by hand.
 */
public interface WorkerTimer
{
    Instant now();

    long nanoTime();

    /**
     * @param task runs on the timer's only thread: hands over whatever may wait
     */
    Scheduled schedule(Duration delay, Runnable task);

    interface Scheduled
    {
        /**
         * Harmless when the task has run.
         */
        void cancel();
    }
}
