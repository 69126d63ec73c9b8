package io.cachedhive.store.ssd;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.column.ByteColumn;
import io.cachedhive.store.file.FileTable;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.policy.EntryLinks;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.policy.FrequencySketch;
import io.cachedhive.store.policy.PolicyEntries;
import io.cachedhive.store.policy.QueuePart;
import io.cachedhive.store.quota.TableQueues;
import io.cachedhive.store.slab.SizeClassUses;
import io.cachedhive.store.slab.SizeClasses;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * Decides which blocks of a directory are evicted, which are admitted, and how slabs are divided among size classes.
 * Has an {@link EvictionPolicy} for each size class, over the entries of the index. Guarded by the store's lock.
 *
 * <p>Readers do not pin blocks here, so eviction never waits for them: a reader detects a replaced extent by its
 * trailer.
 *
 * <p>A checkpoint stores the {@link #heat} of each block in one byte, and orders the blocks by {@link #age}, in steps
 * of an eighth of the blocks. It does not store the order of the queues: they are scattered in memory, and following
 * them for ten million blocks would hold the lock too long.
 */
final class DirectoryPolicy
        implements PolicyEntries
{
    /**
     * The age of all older blocks.
     */
    static final int MAX_AGE = 15;

    private static final int AGES_PER_TURN = 8;
    private static final int FREQUENCY_BITS = 4;
    private static final int MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1;
    private static final QueuePart[] PARTS = QueuePart.values();

    private final SsdIndex index;
    private final SsdSlab[] slabs;
    private final SizeClasses sizeClasses;
    private final FileTable files;
    private final EntryLinks links = new EntryLinks();
    private final FrequencySketch sketch = new FrequencySketch();
    private final EvictionPolicy[] policies;
    private final SizeClassUses uses;
    private final TableQueues tableQueues;
    // time of each block's last use, in fractions of a turn over all blocks; wraps around
    private final ByteColumn times = new ByteColumn();
    private byte time;
    private int usesInTime;
    private int nextAged;
    private long restored;
    private long pinnedBytes;

    DirectoryPolicy(SsdIndex index, SsdSlab[] slabs, SizeClasses sizeClasses, FileTable files, int blockSizeBytes)
    {
        this.index = requireNonNull(index, "index is null");
        this.slabs = requireNonNull(slabs, "slabs is null");
        this.sizeClasses = requireNonNull(sizeClasses, "sizeClasses is null");
        this.files = requireNonNull(files, "files is null");
        this.uses = new SizeClassUses(sizeClasses.count());
        this.tableQueues = new TableQueues(this, sketch, true, blockSizeBytes, index::length);
        this.policies = new EvictionPolicy[sizeClasses.count()];
        for (int i = 0; i < policies.length; i++) {
            policies[i] = new EvictionPolicy(links, this, sketch, true);
        }
    }

    @Override
    public long digestHigh(int entry)
    {
        return index.digestHigh(entry);
    }

    @Override
    public long digestLow(int entry)
    {
        return index.digestLow(entry);
    }

    @Override
    public boolean isPinned(int entry)
    {
        return false;
    }

    SsdSlab slab(int entry)
    {
        return slabs[index.slab(entry)];
    }

    int extent(int entry)
    {
        return index.extent(entry);
    }

    private int sizeClass(int entry)
    {
        return slab(entry).sizeClass;
    }

    private EvictionPolicy policy(int entry)
    {
        return policies[sizeClass(entry)];
    }

    void addPlaces(int sizeClass, int count)
    {
        uses.addPlaces(sizeClass, count);
        policies[sizeClass].setCapacity(uses.placeCount(sizeClass));
    }

    void removePlaces(int sizeClass, int count)
    {
        uses.removePlaces(sizeClass, count);
        policies[sizeClass].setCapacity(uses.placeCount(sizeClass));
    }

    /**
     * Returns the size class to take a slab from for the given class, or {@link SizeClassUses#NONE}.
     */
    int donorFor(int recipient)
    {
        return uses.donorFor(recipient);
    }

    private StoredTable table(int entry)
    {
        return files.table(index.file(entry));
    }

    /**
     * Records a request for a block that is not here.
     *
     * @return whether the block is worth evicting another for it
     */
    boolean request(long digestHigh, long digestLow, int sizeClass, BlockClass newcomer)
    {
        uses.request();
        return policies[sizeClass].request(digestHigh, digestLow, newcomer);
    }

    /**
     * Records, in the queues of its table, a request for a block that is not here.
     *
     * @return whether the block is worth evicting another of the table for it
     */
    boolean requestOfTable(StoredTable table, long digestHigh, long digestLow, BlockClass newcomer)
    {
        return tableQueues.request(table, digestHigh, digestLow, newcomer);
    }

    /**
     * Returns the bytes of the table's blocks in its queues.
     */
    long bytesOfTable(StoredTable table)
    {
        return tableQueues.bytes(table);
    }

    /**
     * Chooses the block of the table to evict for a new one.
     *
     * @return {@link TableQueues#NO_ENTRY} if there is none
     */
    int pollVictim(StoredTable table, BlockClass newcomer)
    {
        return tableQueues.pollVictim(table, newcomer);
    }

    /**
     * Chooses the block to evict when the table exceeds its quota.
     *
     * @return {@link TableQueues#NO_ENTRY} if there is none
     */
    int pollAny(StoredTable table)
    {
        return tableQueues.pollAny(table);
    }

    /**
     * Adds a block that is older than its table's quota to the table's queues.
     */
    void order(int entry)
    {
        if (tracks(entry)) {
            tableQueues.addColdest(table(entry), entry, index.blockClass(entry), policy(entry).part(entry));
        }
    }

    /**
     * Adds a block whose request was recorded before.
     */
    void add(int entry)
    {
        sketch.setEntryCount(index.limit());
        policy(entry).enter(entry, index.blockClass(entry));
        tableQueues.enter(table(entry), entry, index.blockClass(entry));
        countPinned(entry, 1);
        setUsedNow(entry);
    }

    /**
     * Adds a block that the journal restored, without any record of its uses.
     */
    void addAgain(int entry)
    {
        sketch.raise(index.digestHigh(entry), index.digestLow(entry), 1);
        add(entry);
    }

    void setTerms(int entry, BlockTerms terms)
    {
        countPinned(entry, -1);
        index.setTerms(entry, terms);
        policy(entry).setClass(entry, terms.blockClass());
        tableQueues.setClass(table(entry), entry, terms.blockClass());
        countPinned(entry, 1);
    }

    private void countPinned(int entry, int change)
    {
        if (index.blockClass(entry) == BlockClass.PINNED) {
            slab(entry).countPinned(change);
            pinnedBytes += (long) change * index.length(entry);
        }
    }

    long pinnedBytes()
    {
        return pinnedBytes;
    }

    /**
     * Records a use of a block.
     */
    void use(int entry)
    {
        int sizeClass = sizeClass(entry);
        policies[sizeClass].use(entry);
        tableQueues.use(table(entry), entry);
        // a small block in a large extent saves little per byte
        uses.use(sizeClass, (double) index.length(entry) / ((long) sizeClasses.units(sizeClass) * Geometry.UNIT_BYTES));
        setUsedNow(entry);
    }

    /**
     * Removes a block, including one chosen by {@link #pollVictim}.
     */
    void remove(int entry)
    {
        countPinned(entry, -1);
        if (tracks(entry)) {
            policy(entry).remove(entry);
        }
        tableQueues.remove(table(entry), entry);
    }

    private boolean tracks(int entry)
    {
        return policy(entry).contains(entry);
    }

    /**
     * Chooses the block to evict.
     *
     * @param newcomer class of the new block, which cannot evict blocks of a higher class
     * @return {@link EvictionPolicy#NO_ENTRY} if there is none
     */
    int pollVictim(int sizeClass, BlockClass newcomer)
    {
        return policies[sizeClass].pollVictim(newcomer);
    }

    /**
     * Returns the relative cost of losing the block.
     */
    int cost(int entry)
    {
        return policy(entry).isShielded(entry) || index.blockClass(entry) == BlockClass.HIGH ? 4 : 1;
    }

    private void setUsedNow(int entry)
    {
        times.set(entry, time);
        // ages one entry per use, so that all are visited before the time wraps around
        nextAged = nextAged < index.limit() ? nextAged : 0;
        if ((byte) (time - times.find(nextAged)) > MAX_AGE) {
            times.set(nextAged, time - MAX_AGE);
        }
        nextAged++;
        usesInTime++;
        if (usesInTime >= index.limit() / AGES_PER_TURN) {
            usesInTime = 0;
            time++;
        }
    }

    /**
     * Returns the current time, for {@link #age}.
     */
    byte time()
    {
        return time;
    }

    /**
     * Returns the time since the block's last use, in eighths of a turn over all blocks.
     *
     * @param now an earlier {@link #time}; blocks used since then have age 0
     * @return at most {@link #MAX_AGE}
     */
    int age(int entry, byte now)
    {
        return Math.clamp((byte) (now - times.find(entry)), 0, MAX_AGE);
    }

    /**
     * Returns how often the block was requested recently, up to a limit.
     */
    int frequency(int entry)
    {
        return heat(entry) & MAX_FREQUENCY;
    }

    /**
     * Returns the byte for a checkpoint: the block's frequency and its part of the queues.
     */
    byte heat(int entry)
    {
        int frequency = sketch.frequency(index.digestHigh(entry), index.digestLow(entry));
        return (byte) (policy(entry).part(entry).ordinal() << FREQUENCY_BITS | Math.min(frequency, MAX_FREQUENCY));
    }

    /**
     * Adds a block of an earlier run. Called in the order of the last use, the most recent first.
     *
     * @param heat from that run's checkpoint; any value is safe
     */
    void restore(int entry, byte heat)
    {
        int part = (heat >> FREQUENCY_BITS) & 3;
        sketch.setEntryCount(index.limit());
        QueuePart of = part < PARTS.length ? PARTS[part] : QueuePart.MAIN;
        policy(entry).addColdest(entry, index.blockClass(entry), of);
        tableQueues.addColdest(table(entry), entry, index.blockClass(entry), of);
        sketch.raise(index.digestHigh(entry), index.digestLow(entry), heat & MAX_FREQUENCY);
        countPinned(entry, 1);
        times.set(entry, time - (int) Math.min(MAX_AGE, AGES_PER_TURN * restored / Math.max(1, uses.placeCount())));
        restored++;
    }

    /**
     * Prefetches into the processor's cache the memory that {@link #restore} will read.
     *
     * @return a meaningless number
     */
    int touch(long digestLow)
    {
        return sketch.touch(digestLow);
    }

    /**
     * Returns the tuning of a size class, learned from its requests, for {@link #restoreFindings}.
     */
    int findings(int sizeClass)
    {
        return policies[sizeClass].findings();
    }

    /**
     * @param findings from an earlier run's checkpoint; any value is safe
     */
    void restoreFindings(int sizeClass, int findings)
    {
        policies[sizeClass].restoreFindings(findings);
    }

    /**
     * For tests.
     */
    void checkInvariants()
    {
        int known = 0;
        for (EvictionPolicy policy : policies) {
            known += policy.size();
        }
        verify(known == index.size(), "the policy knows %s of %s blocks", known, index.size());
        int[] pinnedCounts = new int[slabs.length];
        long pinned = 0;
        for (int entry = 0; entry < index.limit(); entry++) {
            if (index.isUsed(entry)) {
                verify(tracks(entry), "the policy does not know entry %s", entry);
                verify(policy(entry).blockClass(entry) == index.blockClass(entry), "entry %s is of another class", entry);
                pinnedCounts[index.slab(entry)] += index.blockClass(entry) == BlockClass.PINNED ? 1 : 0;
                pinned += index.blockClass(entry) == BlockClass.PINNED ? index.length(entry) : 0;
            }
        }
        verify(pinned == pinnedBytes, "pinned blocks have %s bytes, and %s are counted", pinned, pinnedBytes);
        for (SsdSlab slab : slabs) {
            verify(slab.pinnedCount() == pinnedCounts[slab.number], "slab %s has %s pinned blocks, not %s", slab.number, slab.pinnedCount(), pinnedCounts[slab.number]);
        }
    }
}
