package io.cachedhive.store.policy;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.policy.EntryLinks.EntryList;

import static io.cachedhive.store.policy.EntryLinks.NONE;
import static java.util.Objects.requireNonNull;

/**
 * Chooses which of the blocks in places of one size is evicted: a block of the lowest class present, chosen by
 * W-TinyLFU with an adaptive window ({@link TinyLfuQueues}, {@link AdaptiveWindow}). Guarded by the store's lock.
 *
 * <p>Blocks are entry numbers of the owner. Several policies may share links and sketch. Each call takes constant time,
 * except that it skips pinned blocks one by one.
 */
public final class EvictionPolicy
{
    /**
     * The value for no entry.
     */
    public static final int NO_ENTRY = NONE;

    private static final BlockClass[] CLASSES = BlockClass.values();
    private static final int TAGS_PER_CLASS = 4;

    private final PolicyEntries entries;
    private final FrequencySketch sketch;
    private final EntryLinks links;
    private final AdaptiveWindow window;
    // whether this policy counts requests in the sketch, or another policy with the same sketch does
    private final boolean counts;
    // queues of guest, normal and high blocks
    private final TinyLfuQueues[] queues = new TinyLfuQueues[BlockClass.PINNED.ordinal()];
    private final EntryList pinned;

    /**
     * Creates a policy for places that are free to fill, as in RAM.
     *
     * @param sketch whose owner calls {@link FrequencySketch#setEntryCount}
     */
    public EvictionPolicy(EntryLinks links, PolicyEntries entries, FrequencySketch sketch)
    {
        this(links, entries, sketch, false);
    }

    /**
     * @param filter whether {@link #request} may reject blocks
     */
    public EvictionPolicy(EntryLinks links, PolicyEntries entries, FrequencySketch sketch, boolean filter)
    {
        this(links, entries, sketch, filter, true);
    }

    /**
     * Creates a policy for some of the entries of another policy, which counts the requests in the sketch.
     *
     * @param links not shared with that policy
     */
    public static EvictionPolicy beside(EntryLinks links, PolicyEntries entries, FrequencySketch sketch, boolean filter)
    {
        return new EvictionPolicy(links, entries, sketch, filter, false);
    }

    private EvictionPolicy(EntryLinks links, PolicyEntries entries, FrequencySketch sketch, boolean filter, boolean counts)
    {
        this.links = requireNonNull(links, "links is null");
        this.entries = requireNonNull(entries, "entries is null");
        this.sketch = requireNonNull(sketch, "sketch is null");
        this.window = new AdaptiveWindow(sketch, filter);
        this.counts = counts;
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
     * Sets the number of places.
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

    public int count(BlockClass blockClass)
    {
        return blockClass == BlockClass.PINNED ? pinned.size() : queues[blockClass.ordinal()].size();
    }

    /**
     * Returns whether a policy with these links has the entry.
     */
    public boolean contains(int entry)
    {
        return links.tag(entry) != 0;
    }

    /**
     * Adds a block and records its request.
     */
    public void add(int entry, BlockClass blockClass)
    {
        enter(entry, blockClass);
        count(entries.digestHigh(entry), entries.digestLow(entry));
    }

    /**
     * Records a request for a block that is not here.
     *
     * @param newcomer its class
     * @return whether to admit the block when all places are taken; false if it would probably be evicted again soon
     */
    public boolean request(long digestHigh, long digestLow, BlockClass newcomer)
    {
        count(digestHigh, digestLow);
        if (newcomer == BlockClass.PINNED || !window.filters()) {
            return true;
        }
        for (int i = 0; i < newcomer.ordinal(); i++) {
            if (queues[i].size() > 0) {
                // a block of a lower class is evicted in any case
                return true;
            }
        }
        return queues[newcomer.ordinal()].wouldStay(digestHigh, digestLow);
    }

    /**
     * Adds a block whose request was recorded by {@link #request}.
     */
    public void enter(int entry, BlockClass blockClass)
    {
        if (blockClass == BlockClass.PINNED) {
            pinned.addLast(entry);
        }
        else {
            queues[blockClass.ordinal()].add(entry);
        }
    }

    /**
     * Adds an evicted block again that was requested while its bytes were still there, and records the request.
     */
    public void restore(int entry, BlockClass blockClass)
    {
        if (blockClass == BlockClass.PINNED) {
            pinned.addLast(entry);
        }
        else {
            queues[blockClass.ordinal()].restore(entry);
        }
        count(entries.digestHigh(entry), entries.digestLow(entry));
    }

    /**
     * Adds a block of an earlier run as the coldest. {@link FrequencySketch#raise} restores its frequency.
     *
     * @param part its part in that run
     */
    public void addColdest(int entry, BlockClass blockClass, QueuePart part)
    {
        if (blockClass == BlockClass.PINNED) {
            pinned.addFirst(entry);
        }
        else {
            queues[blockClass.ordinal()].addColdest(entry, part);
        }
    }

    /**
     * Returns the tuning learned from the requests as one number, for {@link #restoreFindings}.
     */
    public int findings()
    {
        return 2 * window.chosen() + (window.filters() ? 1 : 0);
    }

    /**
     * Restores the tuning of an earlier run.
     *
     * @param findings from that run's policy; any value is safe
     */
    public void restoreFindings(int findings)
    {
        window.restore(findings >> 1, (findings & 1) != 0);
        setWindowShares();
    }

    /**
     * Records a use of a block.
     */
    public void use(int entry)
    {
        BlockClass blockClass = blockClass(entry);
        if (blockClass != BlockClass.PINNED) {
            queues[blockClass.ordinal()].use(entry);
        }
        count(entries.digestHigh(entry), entries.digestLow(entry));
    }

    private void count(long digestHigh, long digestLow)
    {
        if (counts) {
            sketch.increment(digestHigh, digestLow);
        }
        if (window.request(digestHigh, digestLow)) {
            setWindowShares();
        }
    }

    private void setWindowShares()
    {
        for (TinyLfuQueues queue : queues) {
            queue.setWindowShare(window.share());
        }
    }

    public void setClass(int entry, BlockClass blockClass)
    {
        if (blockClass(entry) != blockClass) {
            remove(entry);
            enter(entry, blockClass);
        }
    }

    public BlockClass blockClass(int entry)
    {
        return CLASSES[(links.tag(entry) - 1) / TAGS_PER_CLASS];
    }

    /**
     * Removes a block that was not chosen as the victim.
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
     * Removes and returns the block to evict. Skips pinned blocks.
     *
     * @param newcomer class of the new block, which cannot evict blocks of a higher class
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
     * Removes and returns the guest to evict. Skips pinned blocks.
     *
     * @return {@link #NO_ENTRY} if there is none
     */
    public int pollGuest()
    {
        TinyLfuQueues guests = queues[BlockClass.GUEST.ordinal()];
        return guests.size() == 0 ? NO_ENTRY : guests.pollVictim();
    }

    /**
     * Removes and returns the block to evict, of any class. Skips blocks in use.
     *
     * @return {@link #NO_ENTRY} if there is none
     */
    public int pollAny()
    {
        int victim = pollVictim(BlockClass.HIGH);
        for (int entry = pinned.first(); victim == NONE && entry != NONE; entry = pinned.after(entry)) {
            if (!entries.isPinned(entry)) {
                victim = entry;
            }
        }
        if (victim != NONE && contains(victim)) {
            pinned.remove(victim);
        }
        return victim;
    }

    /**
     * Returns whether the block is among the last of its class to be evicted.
     */
    public boolean isShielded(int entry)
    {
        return part(entry) == QueuePart.SHIELDED;
    }

    public QueuePart part(int entry)
    {
        BlockClass blockClass = blockClass(entry);
        return blockClass == BlockClass.PINNED ? QueuePart.SHIELDED : queues[blockClass.ordinal()].part(entry);
    }
}
