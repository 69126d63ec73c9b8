package io.cachedhive.store.policy;

import io.cachedhive.store.block.BlockClass;
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
    // whether what is asked for is counted in the sketch here, and not by another with the same sketch
    private final boolean counts;
    // of guests, normal ones and high ones
    private final TinyLfuQueues[] queues = new TinyLfuQueues[BlockClass.PINNED.ordinal()];
    private final EntryList pinned;

    /**
     * For places that cost nothing to be filled.
     *
     * @param sketch with {@link FrequencySketch#setEntryCount} called by the owner
     */
    public EvictionPolicy(EntryLinks links, PolicyEntries entries, FrequencySketch sketch)
    {
        this(links, entries, sketch, false);
    }

    /**
     * @param filter whether {@link #request} is to refuse what is better not let in
     */
    public EvictionPolicy(EntryLinks links, PolicyEntries entries, FrequencySketch sketch, boolean filter)
    {
        this(links, entries, sketch, filter, true);
    }

    /**
     * Orders some of the entries of another policy, which counts in the sketch what is asked for.
     *
     * @param links others than those of that policy
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
     * Blocks of a class.
     */
    public int count(BlockClass blockClass)
    {
        return blockClass == BlockClass.PINNED ? pinned.size() : queues[blockClass.ordinal()].size();
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
        count(entries.digestHigh(entry), entries.digestLow(entry));
    }

    /**
     * A block was asked for that is not here.
     *
     * @param newcomer its class
     * @return whether it is worth being let in where all places are taken: false if it would have to leave again soon, as far as can be told
     */
    public boolean request(long digestHigh, long digestLow, BlockClass newcomer)
    {
        count(digestHigh, digestLow);
        if (newcomer == BlockClass.PINNED || !window.filters()) {
            return true;
        }
        for (int i = 0; i < newcomer.ordinal(); i++) {
            if (queues[i].size() > 0) {
                // that one leaves, whatever it is
                return true;
            }
        }
        return queues[newcomer.ordinal()].wouldStay(digestHigh, digestLow);
    }

    /**
     * A block came for which {@link #request} was called before.
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
        count(entries.digestHigh(entry), entries.digestLow(entry));
    }

    /**
     * A block of an earlier run, which counts as colder than all that are here. For what the sketch knew of it see {@link FrequencySketch#raise}.
     *
     * @param part that it was in
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
     * What the policy found out of the queries, in one number for {@link #restoreFindings}.
     */
    public int findings()
    {
        return 2 * window.chosen() + (window.filters() ? 1 : 0);
    }

    /**
     * Goes on with what an earlier run found out.
     *
     * @param findings of that run's policy; any number does no harm
     */
    public void restoreFindings(int findings)
    {
        window.restore(findings >> 1, (findings & 1) != 0);
        setWindowShares();
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
     * Removes and gives the guest that would leave first. Those in use are passed over.
     *
     * @return {@link #NO_ENTRY} if there is none
     */
    public int pollGuest()
    {
        TinyLfuQueues guests = queues[BlockClass.GUEST.ordinal()];
        return guests.size() == 0 ? NO_ENTRY : guests.pollVictim();
    }

    /**
     * Removes and gives the block that would leave first, if need be a pinned one. Those in use are passed over.
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
     * Whether the block is one of those of its class that would leave last.
     */
    public boolean isShielded(int entry)
    {
        return part(entry) == QueuePart.SHIELDED;
    }

    /**
     * Of a block that is here.
     */
    public QueuePart part(int entry)
    {
        BlockClass blockClass = blockClass(entry);
        return blockClass == BlockClass.PINNED ? QueuePart.SHIELDED : queues[blockClass.ordinal()].part(entry);
    }
}
