package io.cachedhive.store.ssd;

import io.cachedhive.store.block.StoreClock;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * The loads of one directory's blocks: a limited number at a time, on threads that no other directory uses. A directory
 * whose reads hang therefore delays its own blocks only.
 *
 * <p>A load beyond {@link #MAX_LOADS} is refused. So is every load while the directory is stalled, which means that a
 * load takes longer than {@link #PATIENCE_NANOS} and no read has ended meanwhile. {@link DirectoryHealth} takes the
 * directory offline later, after {@link DirectoryHealth#HUNG_NANOS}.
 *
 * <p>Guarded by the store's lock, except where a method specifies otherwise.
 */
final class DirectoryLoads
{
    /**
     * Limit on the loads that wait or run. A disk that reads 256 MB/s ends them within a second, after which readers no
     * longer wait.
     */
    static final int MAX_LOADS = 256;
    static final int THREADS = 16;
    /**
     * Less than the second that readers wait for an answer, so that they get a refusal in time, but long enough for a
     * busy host.
     */
    static final long PATIENCE_NANOS = Duration.ofMillis(800).toNanos();

    private static final long IDLE_THREAD_SECONDS = 60;

    private final StoreClock clock;
    private final ThreadPoolExecutor executor;
    // by start
    private final LinkedHashSet<Load> running = new LinkedHashSet<>();
    private long lastAnswerNanos;

    DirectoryLoads(StoreClock clock, ThreadFactory threads)
    {
        this.clock = requireNonNull(clock, "clock is null");
        this.executor = new ThreadPoolExecutor(THREADS, THREADS, IDLE_THREAD_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        executor.allowCoreThreadTimeOut(true);
        this.lastAnswerNanos = clock.stopwatchNanos();
    }

    /**
     * Reserves a load. The caller executes and ends it.
     *
     * @return empty if it is refused
     */
    Optional<SsdLoad> begin()
    {
        if (running.size() >= MAX_LOADS || isStalled()) {
            return Optional.empty();
        }
        Load load = new Load(clock.stopwatchNanos());
        running.add(load);
        return Optional.of(load);
    }

    private boolean isStalled()
    {
        return !running.isEmpty() && running.getFirst().isLate() && clock.stopwatchNanos() - lastAnswerNanos >= PATIENCE_NANOS;
    }

    /**
     * Stops the threads after the loads that are reserved. May be called without the lock.
     */
    void stop()
    {
        executor.shutdown();
    }

    /**
     * Waits for the threads to stop. Callers must not hold the lock.
     */
    void join(long millis)
            throws InterruptedException
    {
        executor.awaitTermination(millis, TimeUnit.MILLISECONDS);
    }

    private final class Load
            implements SsdLoad
    {
        private final long startNanos;

        private Load(long startNanos)
        {
            this.startNanos = startNanos;
        }

        @Override
        public void execute(Runnable read)
        {
            try {
                executor.execute(read);
            }
            catch (OutOfMemoryError e) {
                // not of the heap: the system gives this process no more threads, and those that there are do it
                if (executor.getPoolSize() == 0) {
                    throw e;
                }
                executor.getQueue().add(read);
            }
        }

        @Override
        public boolean isLate()
        {
            return clock.stopwatchNanos() - startNanos >= PATIENCE_NANOS;
        }

        @Override
        public void end(boolean answered)
        {
            running.remove(this);
            if (answered) {
                lastAnswerNanos = clock.stopwatchNanos();
            }
        }
    }
}
