package io.cachedhive.store.quota;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.file.StoredTable;
import io.cachedhive.store.policy.EntryLinks;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.policy.FrequencySketch;
import io.cachedhive.store.policy.PolicyEntries;
import io.cachedhive.store.policy.QueuePart;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;

import static java.util.Objects.requireNonNull;

/**
 * Orders the blocks of tables with quotas for eviction within their table, in the RAM tier or an SSD directory. Each
 * table has an {@link EvictionPolicy}, in addition to the policy for the blocks of all tables, over the same entries.
 * Guarded by the store's lock.
 *
 * <p>Tables without a quota use no memory here. A block of a table with a quota uses nine bytes for its links.
 */
public final class TableQueues
{
    /**
     * The value for no entry.
     */
    public static final int NO_ENTRY = EvictionPolicy.NO_ENTRY;

    /**
     * Maximum number of blocks evicted for a new one beyond its own size. After a quota was lowered, the excess may be
     * millions of blocks, which are evicted in small steps.
     */
    public static final int MAX_EXCESS_AT_ONCE = 8;

    // window models use up to 300 KiB per table, in each directory and in RAM; further tables are LRUs
    private static final int MAX_ADAPTIVE_TABLES = 32;

    private final EntryLinks links = new EntryLinks();
    private final PolicyEntries entries;
    private final FrequencySketch sketch;
    private final boolean filter;
    private final int blockSizeBytes;
    private final IntUnaryOperator lengths;
    private final Map<StoredTable, TableQueue> queues = new IdentityHashMap<>();
    private int adaptiveTables;

    private static final class TableQueue
    {
        final EvictionPolicy policy;
        // total length of its blocks
        long bytes;
        boolean adaptive;

        TableQueue(EvictionPolicy policy)
        {
            this.policy = policy;
        }
    }

    /**
     * @param sketch in which the policy for all tables counts the requests
     * @param filter whether {@link #request} may reject blocks
     * @param lengths lengths of the blocks in bytes, by entry
     */
    public TableQueues(PolicyEntries entries, FrequencySketch sketch, boolean filter, int blockSizeBytes, IntUnaryOperator lengths)
    {
        this.entries = requireNonNull(entries, "entries is null");
        this.sketch = requireNonNull(sketch, "sketch is null");
        this.filter = filter;
        this.blockSizeBytes = blockSizeBytes;
        this.lengths = requireNonNull(lengths, "lengths is null");
    }

    private TableQueue queue(StoredTable table)
    {
        return queues.computeIfAbsent(table, _ -> new TableQueue(EvictionPolicy.beside(links, entries, sketch, filter)));
    }

    /**
     * Records a request for a block that is not here.
     *
     * @return whether the block is worth evicting another of the table for it
     */
    public boolean request(StoredTable table, long digestHigh, long digestLow, BlockClass newcomer)
    {
        return !table.isWatched() || queue(table).policy.request(digestHigh, digestLow, newcomer);
    }

    /**
     * Adds a block whose request was recorded by {@link #request}.
     */
    public void enter(StoredTable table, int entry, BlockClass blockClass)
    {
        if (table.isWatched()) {
            TableQueue queue = queue(table);
            queue.policy.enter(entry, blockClass);
            queue.bytes += lengths.applyAsInt(entry);
        }
    }

    /**
     * Adds an evicted block again that was requested while its bytes were still there.
     */
    public void restore(StoredTable table, int entry, BlockClass blockClass)
    {
        if (table.isWatched()) {
            TableQueue queue = queue(table);
            queue.policy.restore(entry, blockClass);
            queue.bytes += lengths.applyAsInt(entry);
        }
    }

    /**
     * Adds a block of an earlier run, or one that is older than the quota, as the coldest. Does nothing if the queue
     * has it.
     *
     * @param part its part in the queues for all tables
     */
    public void addColdest(StoredTable table, int entry, BlockClass blockClass, QueuePart part)
    {
        if (table.isWatched()) {
            TableQueue queue = queue(table);
            if (!queue.policy.contains(entry)) {
                queue.policy.addColdest(entry, blockClass, part);
                queue.bytes += lengths.applyAsInt(entry);
            }
        }
    }

    /**
     * Records a use of a block.
     */
    public void use(StoredTable table, int entry)
    {
        if (contains(table, entry)) {
            queue(table).policy.use(entry);
        }
    }

    public void setClass(StoredTable table, int entry, BlockClass blockClass)
    {
        if (contains(table, entry)) {
            queue(table).policy.setClass(entry, blockClass);
        }
    }

    /**
     * Removes a block, unless it was polled.
     */
    public void remove(StoredTable table, int entry)
    {
        if (contains(table, entry)) {
            TableQueue queue = queue(table);
            queue.policy.remove(entry);
            queue.bytes -= lengths.applyAsInt(entry);
        }
    }

    /**
     * Returns whether the queue has the block. It may not yet have blocks that are older than the quota.
     */
    public boolean contains(StoredTable table, int entry)
    {
        return table.isWatched() && queue(table).policy.contains(entry);
    }

    /**
     * Returns the number of the table's blocks in its queue.
     */
    public int size(StoredTable table)
    {
        return table.isWatched() ? queue(table).policy.size() : 0;
    }

    /**
     * Returns the bytes of the table's blocks in its queue, an upper bound for what evictions can free here.
     */
    public long bytes(StoredTable table)
    {
        return table.isWatched() ? queue(table).bytes : 0;
    }

    /**
     * Removes and returns the block to evict for a new one of the table. Skips blocks in use.
     *
     * @param newcomer class of the new block, which cannot evict blocks of a higher class; a guest can evict only
     *         guests
     * @return {@link #NO_ENTRY} if there is none
     */
    public int pollVictim(StoredTable table, BlockClass newcomer)
    {
        if (!table.isWatched()) {
            return NO_ENTRY;
        }
        TableQueue queue = queue(table);
        adapt(table, queue);
        return polled(queue, newcomer == BlockClass.GUEST ? queue.policy.pollGuest() : queue.policy.pollVictim(newcomer));
    }

    /**
     * Removes and returns the block to evict when the table exceeds its quota, of any class. Skips blocks in use.
     *
     * @return {@link #NO_ENTRY} if there is none
     */
    public int pollAny(StoredTable table)
    {
        if (!table.isWatched()) {
            return NO_ENTRY;
        }
        TableQueue queue = queue(table);
        return polled(queue, queue.policy.pollAny());
    }

    private int polled(TableQueue queue, int entry)
    {
        if (entry != NO_ENTRY) {
            queue.bytes -= lengths.applyAsInt(entry);
        }
        return entry;
    }

    /**
     * Makes the window of a full table adaptive; until then, an LRU suffices.
     */
    private void adapt(StoredTable table, TableQueue queue)
    {
        if (!queue.adaptive && adaptiveTables < MAX_ADAPTIVE_TABLES) {
            queue.adaptive = true;
            adaptiveTables++;
        }
        if (queue.adaptive && table.limitBytes() != StoredTable.UNLIMITED) {
            queue.policy.setCapacity(Math.clamp(table.limitBytes() / blockSizeBytes, 1, Integer.MAX_VALUE));
        }
    }
}
