package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.ram.MemoryFile;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.sizing.CacheSizer;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * What is done again and again while a store is open.
 */
final class Upkeep
{
    private static final Logger log = Logger.get(Upkeep.class);

    private static final long HEARTBEAT_MILLIS = 200;
    private static final int EXPIRED_AT_ONCE = 256;
    private static final long CAPACITY_MILLIS = 5_000;
    private static final long PINS_MILLIS = 1_000;
    private static final long QUOTA_INTERVAL_MILLIS = 200;
    private static final long END_MILLIS = 5_000;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final RamTier ram;
    private final MemoryFile memoryFile;
    private final CacheSizer sizer;
    private final StoreInspector listings;
    private final QuotaKeeper quotaKeeper;
    private final PinKeeper pinKeeper;
    private final StoreClock clock;
    private final ScheduledExecutorService heartbeat;
    // writes to the state directory, which may take long
    private final ScheduledExecutorService slowUpkeep;

    Upkeep(Tiers tiers, MemoryFile memoryFile, CacheSizer sizer, StoreInspector listings, QuotaKeeper quotaKeeper, PinKeeper pinKeeper, StoreEnvironment environment)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.ram = tiers.ram();
        this.memoryFile = requireNonNull(memoryFile, "memoryFile is null");
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

    void start()
    {
        heartbeat.scheduleAtFixedRate(this::beat, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(this::removeExpired, HEARTBEAT_MILLIS, HEARTBEAT_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(listings::forgetFileOrder, CAPACITY_MILLIS, CAPACITY_MILLIS, MILLISECONDS);
        heartbeat.scheduleWithFixedDelay(this::tellCapacity, CAPACITY_MILLIS, CAPACITY_MILLIS, MILLISECONDS);
        slowUpkeep.scheduleWithFixedDelay(quotaKeeper::keep, QUOTA_INTERVAL_MILLIS, QUOTA_INTERVAL_MILLIS, MILLISECONDS);
        slowUpkeep.scheduleWithFixedDelay(pinKeeper::keep, PINS_MILLIS, PINS_MILLIS, MILLISECONDS);
    }

    /**
     * Shows clients that the worker lives.
     */
    void beat()
    {
        memoryFile.writer().setHeartbeat(clock.currentTimeMillis());
    }

    /**
     * Directories of the SSD tier come and go.
     */
    private void tellCapacity()
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
     * Clients read shared memory without asking: what is expired has to go from there.
     */
    void removeExpired()
    {
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                more = !tiers.isClosed() && ram.removeExpired(EXPIRED_AT_ONCE);
            }
            catch (RuntimeException | Error e) {
                // an exception would end the repetition
                log.error(e, "Blocks that are expired could not be removed");
                return;
            }
            finally {
                lock.unlock();
            }
        }
    }

    /**
     * Whatever is being done is done when it returns, unless it takes very long.
     */
    void end()
    {
        heartbeat.shutdownNow();
        // not by an interrupt, which would break off what it writes
        slowUpkeep.shutdown();
        try {
            slowUpkeep.awaitTermination(END_MILLIS, MILLISECONDS);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
