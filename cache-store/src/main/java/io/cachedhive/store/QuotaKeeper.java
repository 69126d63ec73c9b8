package io.cachedhive.store;

import io.airlift.log.Logger;
import io.cachedhive.store.block.StoreClock;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.quota.TableQuotas;
import io.cachedhive.store.quota.TableUsage;
import io.cachedhive.store.ram.RamTier;
import io.cachedhive.store.ssd.LockYield;
import io.cachedhive.store.ssd.SsdTier;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;

import static java.util.Objects.requireNonNull;

/**
 * Enforces the quotas of tables by eviction and stores them in the state directory.
 */
public final class QuotaKeeper
{
    private static final Logger log = Logger.get(QuotaKeeper.class);

    private static final int EVICTED_AT_ONCE = 64;
    private static final long RETRY_NANOS = 10_000_000_000L;

    private final Tiers tiers;
    private final ReentrantLock lock;
    private final RamTier ram;
    private final SsdTier ssd;
    // guarded by the lock unless its methods specify otherwise
    private final TableQuotas quotas;
    private final StateDirectory state;
    private final StoreClock clock;

    private volatile boolean unwritable;
    private volatile long nextWriteNanos;

    QuotaKeeper(Tiers tiers, TableQuotas quotas, StateDirectory state, StoreClock clock)
    {
        this.tiers = requireNonNull(tiers, "tiers is null");
        this.lock = tiers.lock();
        this.ram = tiers.ram();
        this.ssd = tiers.ssd();
        this.quotas = requireNonNull(quotas, "quotas is null");
        this.state = requireNonNull(state, "state is null");
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * Sets the quota of a table: its limit in bytes over all cache workers. This worker's part follows from its share
     * of the ring and applies to RAM and to SSD separately.
     *
     * <p>The quota applies to new blocks at once. Excess blocks are evicted in small steps, most of them within a
     * second, but not from SSD while its journal is full. The quota is persisted within a second if the state directory
     * is writable.
     *
     * @param table {@code schema.table}
     * @param bytes empty for no quota
     */
    public void setQuota(String table, OptionalLong bytes)
    {
        if (bytes.isPresent() && bytes.getAsLong() < 0) {
            throw new IllegalArgumentException("quota of table %s is negative: %s".formatted(table, bytes.getAsLong()));
        }
        if (quotas.isKnown(table, bytes)) {
            return;
        }
        lock.lock();
        try {
            if (!tiers.isClosed()) {
                quotas.set(table, bytes);
            }
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Sets this worker's fraction of each table quota; 1 until set.
     *
     * @param share above 0 and at most 1
     */
    public void setRingShare(double share)
    {
        lock.lock();
        try {
            quotas.setRingShare(share);
        }
        finally {
            lock.unlock();
        }
    }

    /**
     * Returns the tables with quotas, ordered by name.
     */
    public List<TableUsage> usage()
    {
        List<TableUsage> usage;
        lock.lock();
        try {
            usage = quotas.usage();
        }
        finally {
            lock.unlock();
        }
        return usage.stream().sorted(Comparator.comparing(TableUsage::table)).toList();
    }

    /**
     * Evicts the excess blocks of tables and persists changed quotas. Waits for a call on another thread, so that all is done
     * when this one returns.
     */
    synchronized void keep()
    {
        try {
            orderTables();
            shrinkTables();
            if (!unwritable || clock.nanoTime() - nextWriteNanos >= 0) {
                write();
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would cancel the periodic task
            log.error(e, "Cannot enforce the quotas of tables");
        }
    }

    private void orderTables()
    {
        boolean wanted;
        List<Integer> directories;
        lock.lock();
        try {
            wanted = !tiers.isClosed() && quotas.takeUnordered();
            directories = ssd.directoryNumbers();
        }
        finally {
            lock.unlock();
        }
        if (wanted) {
            tiers.forEachStep(ram::order);
            for (int directory : directories) {
                tiers.forEachStep((first, end) -> ssd.order(directory, first, end));
            }
        }
    }

    private void shrinkTables()
    {
        boolean more = true;
        while (more) {
            more = false;
            List<StoredTable> tables;
            lock.lock();
            try {
                if (tiers.isClosed()) {
                    return;
                }
                more = ram.freeLeft();
                tables = quotas.tooLarge();
            }
            finally {
                lock.unlock();
            }
            for (StoredTable table : tables) {
                lock.lock();
                try {
                    if (!tiers.isClosed()) {
                        more |= ram.shrink(table, EVICTED_AT_ONCE);
                        more |= ssd.shrink(table, EVICTED_AT_ONCE);
                    }
                }
                finally {
                    lock.unlock();
                }
                LockYield.giveWay(lock);
            }
        }
    }

    /**
     * Persists the quotas if they changed since the last write.
     */
    void write()
    {
        Optional<Map<String, Long>> changed;
        lock.lock();
        try {
            changed = quotas.takeChanged();
        }
        finally {
            lock.unlock();
        }
        if (changed.isEmpty()) {
            return;
        }
        try {
            state.keepTableQuotas(changed.get());
            unwritable = false;
        }
        catch (IOException e) {
            if (!unwritable) {
                log.warn("Quotas of tables cannot be written to %s (%s): after a restart readers send them again", state.quotasFile(), e.getMessage());
            }
            unwritable = true;
            nextWriteNanos = clock.nanoTime() + RETRY_NANOS;
            lock.lock();
            try {
                quotas.setChanged();
            }
            finally {
                lock.unlock();
            }
        }
    }
}
