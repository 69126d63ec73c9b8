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
 * Which of a directory's blocks leave for want of space, which are worth being written, and which size class should have how many places: an
 * {@link EvictionPolicy} for each size class, over the entries of the index. Guarded by the store's lock.
 *
 * <p>Readers pin nothing here: whoever reads an extent that is given to another block sees that by its trailer. So no eviction waits for a reader.
 *
 * <p>What a checkpoint keeps of it are the {@link #heat} of each block, in one byte, and the order in which the blocks stand there. That order is by
 * {@link #age}, in steps of an eighth of the blocks: the queues themselves lie across memory, and to follow them for ten million blocks, under the lock,
 * takes longer than readers should wait.
 */
final class DirectoryPolicy
        implements PolicyEntries
{
    /**
     * Older blocks count as of this age.
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
    // the time when a block was used last, in turns of the blocks; it goes round
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
        sketch.setEntryCount(uses.placeCount());
    }

    void removePlaces(int sizeClass, int count)
    {
        uses.removePlaces(sizeClass, count);
        policies[sizeClass].setCapacity(uses.placeCount(sizeClass));
    }

    /**
     * The size class that a slab should be taken from for another, or {@link SizeClassUses#NONE}.
     */
    int giverFor(int taker)
    {
        return uses.giverFor(taker);
    }

    private StoredTable table(int entry)
    {
        return files.table(index.file(entry));
    }

    /**
     * A block was asked for that is not here.
     *
     * @return whether it is worth being written where there is no room but that of another
     */
    boolean request(long digestHigh, long digestLow, int sizeClass, BlockClass newcomer)
    {
        uses.request();
        return policies[sizeClass].request(digestHigh, digestLow, newcomer);
    }

    /**
     * Likewise, among the blocks of its table.
     */
    boolean requestOfTable(StoredTable table, long digestHigh, long digestLow, BlockClass newcomer)
    {
        return tableQueues.request(table, digestHigh, digestLow, newcomer);
    }

    /**
     * Of the blocks of a table that are in order here.
     */
    long bytesOfTable(StoredTable table)
    {
        return tableQueues.bytes(table);
    }

    /**
     * The block that leaves for another of the table.
     *
     * @return {@link TableQueues#NO_ENTRY} if there is none
     */
    int pollVictim(StoredTable table, BlockClass newcomer)
    {
        return tableQueues.pollVictim(table, newcomer);
    }

    /**
     * The block that leaves where the table has more than it may.
     *
     * @return {@link TableQueues#NO_ENTRY} if there is none
     */
    int pollAny(StoredTable table)
    {
        return tableQueues.pollAny(table);
    }

    /**
     * Puts a block in order that came before its table had a quota.
     */
    void order(int entry)
    {
        if (knows(entry)) {
            tableQueues.addColdest(table(entry), entry, index.blockClass(entry), policy(entry).part(entry));
        }
    }

    /**
     * A block came that was asked for before.
     */
    void add(int entry)
    {
        policy(entry).enter(entry, index.blockClass(entry));
        tableQueues.enter(table(entry), entry, index.blockClass(entry));
        countPinned(entry, 1);
        setUsedNow(entry);
    }

    /**
     * A block that came in an earlier run, after its last checkpoint, so that nothing else is known of it.
     */
    void addAgain(int entry)
    {
        sketch.raise(index.digestHigh(entry), index.digestLow(entry), 1);
        add(entry);
    }

    /**
     * The terms of a block change.
     */
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

    /**
     * Bytes of blocks of class PINNED.
     */
    long pinnedBytes()
    {
        return pinnedBytes;
    }

    /**
     * A block was asked for.
     */
    void use(int entry)
    {
        int sizeClass = sizeClass(entry);
        policies[sizeClass].use(entry);
        tableQueues.use(table(entry), entry);
        // a small block in a large extent is worth little
        uses.use(sizeClass, (double) index.length(entry) / ((long) sizeClasses.units(sizeClass) * Geometry.UNIT_BYTES));
        setUsedNow(entry);
    }

    /**
     * A block left, or was chosen by {@link #pollVictim}.
     */
    void remove(int entry)
    {
        countPinned(entry, -1);
        if (knows(entry)) {
            policy(entry).remove(entry);
        }
        tableQueues.remove(table(entry), entry);
    }

    private boolean knows(int entry)
    {
        return policy(entry).contains(entry);
    }

    /**
     * The block to evict.
     *
     * @param newcomer the class of what comes in its place: a block of a higher one does not leave for it
     * @return {@link EvictionPolicy#NO_ENTRY} if there is none
     */
    int pollVictim(int sizeClass, BlockClass newcomer)
    {
        return policies[sizeClass].pollVictim(newcomer);
    }

    /**
     * What it would cost to lose the block, in comparison with others.
     */
    int cost(int entry)
    {
        return policy(entry).isShielded(entry) || index.blockClass(entry) == BlockClass.HIGH ? 4 : 1;
    }

    private void setUsedNow(int entry)
    {
        times.set(entry, time);
        // one for each use, so that all are looked at before any time comes again
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
     * For {@link #age}.
     */
    byte time()
    {
        return time;
    }

    /**
     * How long ago the block was used, in eighths of a turn of all blocks.
     *
     * @param now {@link #time} a moment ago: blocks used since are of age 0
     * @return up to {@link #MAX_AGE}
     */
    int age(int entry, byte now)
    {
        return Math.clamp((byte) (now - times.find(entry)), 0, MAX_AGE);
    }

    /**
     * How often the block was asked for lately, up to a bound.
     */
    int frequency(int entry)
    {
        return heat(entry) & MAX_FREQUENCY;
    }

    /**
     * For a checkpoint: how much the block was asked for, and its part of the queues.
     */
    byte heat(int entry)
    {
        int frequency = sketch.frequency(index.digestHigh(entry), index.digestLow(entry));
        return (byte) (policy(entry).part(entry).ordinal() << FREQUENCY_BITS | Math.min(frequency, MAX_FREQUENCY));
    }

    /**
     * A block of an earlier run. Those that were used last come first.
     *
     * @param heat of that run's policy; any number does no harm
     */
    void restore(int entry, byte heat)
    {
        int part = (heat >> FREQUENCY_BITS) & 3;
        QueuePart of = part < PARTS.length ? PARTS[part] : QueuePart.MAIN;
        policy(entry).addColdest(entry, index.blockClass(entry), of);
        tableQueues.addColdest(table(entry), entry, index.blockClass(entry), of);
        sketch.raise(index.digestHigh(entry), index.digestLow(entry), heat & MAX_FREQUENCY);
        countPinned(entry, 1);
        times.set(entry, time - (int) Math.min(MAX_AGE, AGES_PER_TURN * restored / Math.max(1, uses.placeCount())));
        restored++;
    }

    /**
     * Brings what {@link #restore} will look at into the processor's cache.
     *
     * @return of no use
     */
    int touch(long digestLow)
    {
        return sketch.touch(digestLow);
    }

    /**
     * What was found out of the queries for a size class, for {@link #restoreFindings}.
     */
    int findings(int sizeClass)
    {
        return policies[sizeClass].findings();
    }

    /**
     * @param findings of an earlier run's policy; any number does no harm
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
                verify(knows(entry), "the policy does not know entry %s", entry);
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
