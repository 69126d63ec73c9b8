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
 * The blocks of tables with a quota in one place (the RAM tier, or an SSD directory), in the order in which they leave for others of their table: an
 * {@link EvictionPolicy} for each table, beside the one that orders the blocks of all tables, and over the same entries. Guarded by the store's lock.
 *
 * <p>Tables without a quota cost no memory here. A block of one with a quota costs the nine bytes of its links.
 */
public final class TableQueues
{
    /**
     * Instead of an entry: there is none.
     */
    public static final int NO_ENTRY = EvictionPolicy.NO_ENTRY;

    /**
     * How many blocks of a table leave for one, beyond those whose room it takes: where a quota became smaller there may be millions, which leave in small steps.
     */
    public static final int MAX_EXCESS_AT_ONCE = 8;

    // models of the window take up to 300 KiB for a table, in each directory and in RAM; tables beyond are LRUs
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
        // of its blocks
        long bytes;
        boolean adaptive;

        TableQueue(EvictionPolicy policy)
        {
            this.policy = policy;
        }
    }

    /**
     * @param sketch in which whoever orders the blocks of all tables counts what is asked for
     * @param filter whether {@link #request} is to refuse what is better not let in
     * @param lengths of the blocks by their entries, in bytes
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
     * A block was asked for that is not here.
     *
     * @return whether it is worth being let in where another of the table has to leave for it
     */
    public boolean request(StoredTable table, long digestHigh, long digestLow, BlockClass newcomer)
    {
        return !table.isWatched() || queue(table).policy.request(digestHigh, digestLow, newcomer);
    }

    /**
     * A block came for which {@link #request} was called before.
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
     * A victim was asked for while its bytes were still there.
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
     * A block of an earlier run, or from before the table had a quota. Nothing happens if it is in order already.
     *
     * @param part that it is in among the blocks of all tables
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
     * A block was asked for.
     */
    public void use(StoredTable table, int entry)
    {
        if (contains(table, entry)) {
            queue(table).policy.use(entry);
        }
    }

    /**
     * The class that the block has from now on.
     */
    public void setClass(StoredTable table, int entry, BlockClass blockClass)
    {
        if (contains(table, entry)) {
            queue(table).policy.setClass(entry, blockClass);
        }
    }

    /**
     * The block left, or is one that was polled.
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
     * Whether the block is in order. Those from before the table had a quota may not be yet.
     */
    public boolean contains(StoredTable table, int entry)
    {
        return table.isWatched() && queue(table).policy.contains(entry);
    }

    /**
     * How many blocks of the table are in order.
     */
    public int size(StoredTable table)
    {
        return table.isWatched() ? queue(table).policy.size() : 0;
    }

    /**
     * Of the blocks that are in order: no more than that can leave here for others of the table.
     */
    public long bytes(StoredTable table)
    {
        return table.isWatched() ? queue(table).bytes : 0;
    }

    /**
     * Removes and gives the block that leaves for another of the table. Those in use are passed over.
     *
     * @param newcomer the class of the other: a block of a higher one does not leave for it, and for a guest only another guest
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
     * Removes and gives the block that leaves where the table has more than it may, if need be a pinned one. Those in use are passed over.
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
     * Until a table is full its order does not matter, and an LRU is all that it needs.
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
