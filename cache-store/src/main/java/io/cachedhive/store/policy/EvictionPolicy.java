package io.cachedhive.store.policy;

import io.cachedhive.store.BlockClass;
import io.cachedhive.store.policy.EntryLinks.EntryList;

import static io.cachedhive.store.policy.EntryLinks.NONE;
import static java.util.Objects.requireNonNull;

/**
 * Decides which of the blocks that share places of one size leaves: one of the lowest class that is there, and of these the one that W-TinyLFU with an
 * adaptive window chooses ({@link TinyLfuQueues}, {@link AdaptiveWindow}). Guarded by the store's lock.
 *
 * <p>Blocks are numbered entries of whoever has them; several policies may share links and sketch. No call takes longer with more blocks,
 * but for those that are pinned by a reader, each of which is passed over.
 */
public final class EvictionPolicy
{
    /**
     * Instead of an entry: there is none.
     */
    public static final int NO_ENTRY = NONE;

    private static final BlockClass[] CLASSES = BlockClass.values();
    private static final int TAGS_PER_CLASS = 4;

    private final PolicyEntries entries;
    private final FrequencySketch sketch;
    private final EntryLinks links;
    private final AdaptiveWindow window;
    // of guests, normal ones and high ones
    private final TinyLfuQueues[] queues = new TinyLfuQueues[BlockClass.PINNED.ordinal()];
    private final EntryList pinned;

    /**
     * @param sketch with {@link FrequencySketch#setEntryCount} called by the owner
     */
    public EvictionPolicy(EntryLinks links, PolicyEntries entries, FrequencySketch sketch)
    {
        this.links = requireNonNull(links, "links is null");
        this.entries = requireNonNull(entries, "entries is null");
        this.sketch = requireNonNull(sketch, "sketch is null");
        this.window = new AdaptiveWindow(sketch);
        for (int i = 0; i < queues.length; i++) {
            queues[i] = new TinyLfuQueues(links, firstTag(CLASSES[i]), entries, sketch, window.share());
        }
        this.pinned = links.new EntryList(firstTag(BlockClass.PINNED));
    }

    private static int firstTag(BlockClass blockClass)
    {
        return 1 + TAGS_PER_CLASS * blockClass.ordinal();
    }

    /**
     * How many places its blocks share now.
     */
    public void setCapacity(int count)
    {
        if (count > 0) {
            window.setCapacity(count);
        }
    }

    public int size()
    {
        int size = pinned.size();
        for (TinyLfuQueues queue : queues) {
            size += queue.size();
        }
        return size;
    }

    /**
     * Whether a policy with these links has the entry.
     */
    public boolean contains(int entry)
    {
        return links.tag(entry) != 0;
    }

    /**
     * A block was asked for and came.
     */
    public void add(int entry, BlockClass blockClass)
    {
        enter(entry, blockClass);
        count(entry);
    }

    private void enter(int entry, BlockClass blockClass)
    {
        if (blockClass == BlockClass.PINNED) {
            pinned.addLast(entry);
        }
        else {
            queues[blockClass.ordinal()].add(entry);
        }
    }

    /**
     * A victim was asked for while its bytes were still there.
     */
    public void restore(int entry, BlockClass blockClass)
    {
        if (blockClass == BlockClass.PINNED) {
            pinned.addLast(entry);
        }
        else {
            queues[blockClass.ordinal()].restore(entry);
        }
        count(entry);
    }

    /**
     * A block was asked for.
     */
    public void use(int entry)
    {
        BlockClass blockClass = blockClass(entry);
        if (blockClass != BlockClass.PINNED) {
            queues[blockClass.ordinal()].use(entry);
        }
        count(entry);
    }

    private void count(int entry)
    {
        long high = entries.digestHigh(entry);
        long low = entries.digestLow(entry);
        sketch.increment(high, low);
        if (window.request(high, low)) {
            for (TinyLfuQueues queue : queues) {
                queue.setWindowShare(window.share());
            }
        }
    }

    /**
     * The class that the block has from now on.
     */
    public void setClass(int entry, BlockClass blockClass)
    {
        if (blockClass(entry) != blockClass) {
            remove(entry);
            enter(entry, blockClass);
        }
    }

    /**
     * Of a block that is here.
     */
    public BlockClass blockClass(int entry)
    {
        return CLASSES[(links.tag(entry) - 1) / TAGS_PER_CLASS];
    }

    /**
     * A block left for another reason than that it was the victim.
     */
    public void remove(int entry)
    {
        BlockClass blockClass = blockClass(entry);
        if (blockClass == BlockClass.PINNED) {
            pinned.remove(entry);
        }
        else {
            queues[blockClass.ordinal()].remove(entry);
        }
    }

    /**
     * Removes and gives the block to evict. Those in use are passed over.
     *
     * @param newcomer the class of what comes in its place: a block of a higher one does not leave for it
     * @return {@link #NO_ENTRY} if there is none
     */
    public int pollVictim(BlockClass newcomer)
    {
        int last = Math.max(BlockClass.NORMAL.ordinal(), Math.min(newcomer.ordinal(), BlockClass.HIGH.ordinal()));
        for (int i = 0; i <= last; i++) {
            if (queues[i].size() > 0) {
                int victim = queues[i].pollVictim();
                if (victim != NONE) {
                    return victim;
                }
            }
        }
        return NONE;
    }

    /**
     * Whether the block is one of those of its class that would leave last.
     */
    public boolean isShielded(int entry)
    {
        BlockClass blockClass = blockClass(entry);
        return blockClass == BlockClass.PINNED || queues[blockClass.ordinal()].isShielded(entry);
    }
}
