package io.cachedhive.store.ssd;

import io.airlift.log.Logger;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The thread that makes drops durable in one place, so that no other thread waits for its disk. Thread-safe.
 */
final class DropThread
{
    private static final Logger log = Logger.get(DropThread.class);

    private static final long IDLE_THREAD_SECONDS = 60;

    private final ThreadPoolExecutor executor;

    DropThread(ThreadFactory threads)
    {
        executor = new ThreadPoolExecutor(1, 1, IDLE_THREAD_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        executor.allowCoreThreadTimeOut(true);
    }

    /**
     * @return completes with the result of the task, and with false if the task fails or the thread was stopped
     */
    CompletableFuture<Boolean> run(BooleanSupplier task)
    {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        try {
            executor.execute(() -> {
                boolean success = false;
                try {
                    success = task.getAsBoolean();
                }
                catch (RuntimeException | Error e) {
                    log.error(e, "A drop could not be made durable");
                }
                finally {
                    result.complete(success);
                }
            });
        }
        catch (RejectedExecutionException _) {
            result.complete(false);
        }
        return result;
    }

    /**
     * Runs the tasks that wait, and rejects others.
     */
    void stop()
    {
        executor.shutdown();
    }

    void join(long millis)
            throws InterruptedException
    {
        executor.awaitTermination(millis, TimeUnit.MILLISECONDS);
    }
}
