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
 * The quotas of tables: takes them, evicts what tables have beyond them, and writes them down in the state directory.
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
    // the lock guards their state, unless their methods say otherwise
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
     * How many bytes blocks of a table may have over all cache workers; this one's part is by its share of the ring, and counts for RAM and for SSD.
     * In force for what is filled from now on; what the table has beyond it leaves in small steps, most of it within a second, not from SSD while the journal is full.
     * Within a second it is kept for the next run, if the state directory can be written.
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
     * By how much of a table's quota belongs to this worker; 1 until it is said.
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
     * The tables with quotas, in the order of their names.
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
     * What is left to do after a quota changed: evicts what tables have beyond theirs, and writes the quotas down.
     */
    void keep()
    {
        try {
            orderTables();
            shrinkTables();
            if (!unwritable || clock.nanoTime() - nextWriteNanos >= 0) {
                write();
            }
        }
        catch (RuntimeException | Error e) {
            // an exception would end the repetition
            log.error(e, "Quotas of tables could not be kept");
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
     * Writes the quotas down, if they are not as they were written last.
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
                log.warn("Quotas of tables cannot be written to %s (%s): after a restart they come again when the tables are read", state.quotasFile(), e.getMessage());
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
