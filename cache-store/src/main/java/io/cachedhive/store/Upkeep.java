package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.ram.MemoryFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.sizing.CacheSizer;
import io.cachedhive.store.ssd.LockYield;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * Runs the periodic maintenance of an open store.
 */
final class Upkeep
{
    private static final Logger log = Logger.get(Upkeep.class);

    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long HEARTBEAT_MILLIS = 200;
    // a fraction of the time that readers wait for an answer
    private static final long LATE_MILLIS = 50;
    private static final int EXPIRED_AT_ONCE = 256;
    private static final long HITS_MILLIS = 100;
    private static final long CAPACITY_MILLIS = 5_000;
    private static final long GROWTH_RETRY_MILLIS = 10_000;
    private static final long PINS_MILLIS = 1_000;
    private static final long QUOTA_INTERVAL_MILLIS = 200;
    private static final long END_MILLIS = 5_000;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final RamTier ram;
    private final MemoryFile memoryFile;
    private final HitRecorder hitRecorder;
    private final CacheSizer sizer;
    private final StoreInspector listings;
    private final QuotaKeeper quotaKeeper;
    private final PinKeeper pinKeeper;
    private final StoreClock clock;
    private final ScheduledExecutorService heartbeat;
    // its tasks write to the state directory, which may take long
    private final ScheduledExecutorService slowUpkeep;

    Upkeep(Tiers tiers, HitRecorder hitRecorder, CacheSizer sizer, StoreInspector listings, QuotaKeeper quotaKeeper, PinKeeper pinKeeper, StoreEnvironment environment)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.ram = tiers.ram();
        this.memoryFile = ram.memoryFile();
        this.hitRecorder = requireNonNull(hitRecorder, "hitRecorder is null");
        this.sizer = requireNonNull(sizer, "sizer is null");
        this.listings = requireNonNull(listings, "listings is null");
        this.quotaKeeper = requireNonNull(quotaKeeper, "quotaKeeper is null");
        this.pinKeeper = requireNonNull(pinKeeper, "pinKeeper is null");
        this.clock = environment.clock();
        this.heartbeat = repeater(environment);
        this.slowUpkeep = repeater(environment);
    }

    private static ScheduledExecutorService repeater(StoreEnvironment environment)
    {
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, environment.threads());
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        return executor;
    }

    /**
     * @param endLate ends disk operations that take too long; never waits for a disk
     */
    void start(Runnable endLate)
    {
        repeat(heartbeat, endLate, LATE_MILLIS);
        heartbeat.scheduleAtFixedRate(guarded(this::beat), HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
        repeat(heartbeat, hitRecorder::drain, HITS_MILLIS);
        repeat(heartbeat, this::removeExpired, HEARTBEAT_MILLIS);
        repeat(heartbeat, listings::forgetFileOrder, CAPACITY_MILLIS);
        repeat(heartbeat, this::updateCapacity, CAPACITY_MILLIS);
        repeat(heartbeat, memoryFile::retryGrowth, GROWTH_RETRY_MILLIS);
        repeat(slowUpkeep, quotaKeeper::keep, QUOTA_INTERVAL_MILLIS);
        repeat(slowUpkeep, pinKeeper::keep, PINS_MILLIS);
    }

    private static void repeat(ScheduledExecutorService executor, Runnable task, long millis)
    {
        executor.scheduleWithFixedDelay(guarded(task), millis, millis, MILLISECONDS);
    }

    /**
     * Returns the task without its exceptions, each of which would end the schedule.
     */
    private static Runnable guarded(Runnable task)
    {
        AtomicLong nextLogNanos = new AtomicLong(System.nanoTime());
        return () -> {
            try {
                task.run();
            }
            catch (RuntimeException | Error e) {
                long now = System.nanoTime();
                if (now - nextLogNanos.get() >= 0) {
                    nextLogNanos.set(now + LOG_INTERVAL_NANOS);
                    log.error(e, "A periodic task failed; the next log of it is in a minute at the earliest");
                }
            }
        };
    }

    /**
     * Updates the heartbeat that clients check.
     */
    void beat()
    {
        memoryFile.writer().setHeartbeat(clock.currentTimeMillis());
    }

    /**
     * Updates the capacity, because SSD directories go offline and come back.
     */
    private void updateCapacity()
    {
        long bytes;
        lock.lock();
        try {
            bytes = tiers.capacityBytes();
        }
        finally {
            lock.unlock();
        }
        sizer.setCapacity(bytes);
    }

    /**
     * Removes expired blocks, because clients read shared memory without a check by the worker.
     */
    void removeExpired()
    {
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                more = !tiers.isClosed() && ram.removeExpired(EXPIRED_AT_ONCE);
            }
            finally {
                lock.unlock();
            }
            LockYield.giveWay(lock);
        }
    }

    /**
     * Stops the tasks and waits up to 5 s for running ones.
     */
    void end()
    {
        heartbeat.shutdownNow();
        // an interrupt would abort a write in progress
        slowUpkeep.shutdown();
        try {
            slowUpkeep.awaitTermination(END_MILLIS, MILLISECONDS);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
