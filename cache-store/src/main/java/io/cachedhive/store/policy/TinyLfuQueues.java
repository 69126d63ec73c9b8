package io.cachedhive.store.policy;

import io.cachedhive.store.policy.EntryLinks.EntryList;

import static io.cachedhive.store.policy.EntryLinks.NONE;
import static java.util.Objects.requireNonNull;

/**
 * W-TinyLFU (Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", ACM TOS 2017) with a
 * window of a given share. New blocks enter the window, a small LRU. A block that leaves the window competes with the
 * next victim of the main part, and the one with more requests stays. The main part is a segmented LRU: blocks are on
 * probation until they are used, then protected, up to four fifths of the part. Blocks of a single scan pass through
 * the window. Of a loop larger than the cache, a part stays and is hit. A window with all blocks is an LRU.
 *
 * <p>Victims are removed before their places are filled again, so the current number of blocks does not show how full
 * the cache is. {@code level}, their recent maximum, does. A block above that level filled a free place; then the
 * window overflows into the main part without a competition.
 */
final class TinyLfuQueues
{
    private static final double PROTECTED_SHARE = 0.8;
    // bounds the work of a request
    private static final int MAX_MOVES = 64;
    // limits the evicted places that still count as capacity; beyond it, they were reassigned
    private static final int MAX_AHEAD_SHARE = 16;
    private static final int MIN_AHEAD = 64;

    private final PolicyEntries entries;
    private final FrequencySketch sketch;
    private final EntryLinks links;
    private final EntryList window;
    private final EntryList probation;
    private final EntryList shielded;
    // lost the competition and are evicted next
    private final EntryList condemned;
    private double windowShare;
    private int level;
    // excess blocks of a window that shrank; a few at a time move to the main part
    private int windowSurplus;

    /**
     * @param firstTag first of four tags for the lists
     */
    TinyLfuQueues(EntryLinks links, int firstTag, PolicyEntries entries, FrequencySketch sketch, double windowShare)
    {
        this.links = requireNonNull(links, "links is null");
        this.window = links.new EntryList(firstTag);
        this.probation = links.new EntryList(firstTag + 1);
        this.shielded = links.new EntryList(firstTag + 2);
        this.condemned = links.new EntryList(firstTag + 3);
        this.entries = requireNonNull(entries, "entries is null");
        this.sketch = requireNonNull(sketch, "sketch is null");
        this.windowShare = windowShare;
    }

    int size()
    {
        return window.size() + probation.size() + shielded.size() + condemned.size();
    }

    /**
     * Returns the estimated capacity in blocks.
     */
    int level()
    {
        return level;
    }

    void setWindowShare(double share)
    {
        windowShare = share;
        windowSurplus = Math.max(0, window.size() - maxWindow());
    }

    private int maxWindow()
    {
        return Math.max(1, (int) (windowShare * level));
    }

    private int maxShielded()
    {
        return (int) (PROTECTED_SHARE * (level - maxWindow()));
    }

    void add(int entry)
    {
        window.addLast(entry);
        if (size() > level) {
            level = size();
            while (window.size() - windowSurplus > maxWindow()) {
                probation.addLast(window.pollFirst());
            }
        }
        adapt();
    }

    /**
     * Adds an evicted block again that was requested while its bytes were still there.
     */
    void restore(int entry)
    {
        // an LRU has no protected part
        (maxShielded() == 0 ? window : shielded).addLast(entry);
        level = Math.max(level, size());
        adapt();
    }

    /**
     * Adds a block of an earlier run as the coldest of the part that it was in.
     */
    void addColdest(int entry, QueuePart part)
    {
        switch (part) {
            case WINDOW -> window.addFirst(entry);
            case MAIN -> probation.addFirst(entry);
            case SHIELDED -> shielded.addFirst(entry);
        }
        level = Math.max(level, size());
        windowSurplus = Math.max(0, window.size() - maxWindow());
    }

    QueuePart part(int entry)
    {
        int tag = links.tag(entry);
        return tag == window.tag() ? QueuePart.WINDOW : tag == shielded.tag() ? QueuePart.SHIELDED : QueuePart.MAIN;
    }

    /**
     * Returns whether a new block has more requests than the block that would be evicted for it.
     */
    boolean wouldStay(long digestHigh, long digestLow)
    {
        int victim = firstUnpinned(probation);
        if (victim == NONE) {
            victim = firstUnpinned(shielded);
        }
        // without a main part this is an LRU, which keeps every block for a while
        return victim == NONE || sketch.frequency(digestHigh, digestLow) > frequency(victim);
    }

    void use(int entry)
    {
        int tag = links.tag(entry);
        if (tag == probation.tag()) {
            probation.remove(entry);
            shielded.addLast(entry);
        }
        else if (tag == condemned.tag()) {
            condemned.remove(entry);
            shielded.addLast(entry);
        }
        else {
            list(tag).moveToLast(entry);
        }
        adapt();
    }

    private EntryList list(int tag)
    {
        return switch (tag - window.tag()) {
            case 0 -> window;
            case 1 -> probation;
            case 2 -> shielded;
            case 3 -> condemned;
            default -> throw new IllegalArgumentException("tag %s is not of these lists".formatted(tag));
        };
    }

    /**
     * Removes a block that was not chosen as the victim.
     */
    void remove(int entry)
    {
        list(links.tag(entry)).remove(entry);
        level = Math.max(0, level - 1);
    }

    /**
     * @return NONE if the queues are empty or all blocks are pinned
     */
    int pollVictim()
    {
        // the new block enters the window, so another has to leave it
        for (int overflow = window.size() - windowSurplus + 1 - maxWindow(); overflow > 0; overflow--) {
            int candidate = firstUnpinned(window);
            if (candidate == NONE) {
                break;
            }
            compete(candidate);
        }
        int victim = pollUnpinned(condemned);
        if (victim == NONE) {
            victim = pollUnpinned(probation);
        }
        if (victim == NONE) {
            victim = pollUnpinned(window);
        }
        if (victim == NONE) {
            victim = pollUnpinned(shielded);
        }
        level = Math.min(level, size() + Math.max(MIN_AHEAD, level / MAX_AHEAD_SHARE));
        return victim;
    }

    private void compete(int candidate)
    {
        window.remove(candidate);
        EntryList main = probation;
        int victim = firstUnpinned(main);
        if (victim == NONE) {
            main = shielded;
            victim = firstUnpinned(main);
        }
        if (victim != NONE && frequency(candidate) > frequency(victim)) {
            main.remove(victim);
            condemned.addLast(victim);
            probation.addLast(candidate);
        }
        else {
            condemned.addLast(candidate);
        }
    }

    private int frequency(int entry)
    {
        return sketch.frequency(entries.digestHigh(entry), entries.digestLow(entry));
    }

    private int pollUnpinned(EntryList list)
    {
        int entry = firstUnpinned(list);
        if (entry != NONE) {
            list.remove(entry);
        }
        return entry;
    }

    /**
     * Returns the first block that is not pinned, and moves the pinned ones before it to the end.
     */
    private int firstUnpinned(EntryList list)
    {
        for (int i = list.size(); i > 0; i--) {
            int entry = list.first();
            if (!entries.isPinned(entry)) {
                return entry;
            }
            list.moveToLast(entry);
        }
        return NONE;
    }

    private void adapt()
    {
        for (int moves = MAX_MOVES; moves > 0 && windowSurplus > 0 && !window.isEmpty(); moves--) {
            probation.addLast(window.pollFirst());
            windowSurplus--;
        }
        for (int moves = MAX_MOVES; moves > 0 && shielded.size() > maxShielded(); moves--) {
            probation.addLast(shielded.pollFirst());
        }
    }
}
