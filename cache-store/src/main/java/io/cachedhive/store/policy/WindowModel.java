package io.cachedhive.store.policy;

import java.util.Arrays;

import static io.cachedhive.store.policy.EntryLinks.NONE;

/**
 * A cache of a few blocks without bytes, with a window of a given share and perhaps a filter in front of it, which tells how many requests it could have
 * answered.
 */
final class WindowModel
        implements PolicyEntries
{
    private final EntryLinks links = new EntryLinks();
    private final TinyLfuQueues queues;
    // whether blocks that would leave again at once are not let in at all
    private final boolean filter;
    private long[] highs = new long[0];
    private long[] lows = new long[0];
    private int[] nexts = new int[0];
    // of the chains of entries, by some bits of the digest
    private int[] heads = new int[0];
    private int used;
    private int firstFree = NONE;
    private int capacity;
    private int size;

    WindowModel(FrequencySketch sketch, double share, boolean filter)
    {
        this.queues = new TinyLfuQueues(links, 1, this, sketch, share);
        this.filter = filter;
    }

    void setShare(double share)
    {
        queues.setWindowShare(share);
    }

    /**
     * What is too much leaves at once.
     */
    void setCapacity(int count)
    {
        capacity = count;
        while (size > capacity) {
            evict();
        }
        if (count > highs.length) {
            highs = Arrays.copyOf(highs, count);
            lows = Arrays.copyOf(lows, count);
            nexts = Arrays.copyOf(nexts, count);
            heads = new int[Integer.highestOneBit(count) << 1];
            Arrays.fill(heads, NONE);
            for (int entry = 0; entry < used; entry++) {
                if (links.tag(entry) != 0) {
                    link(entry);
                }
            }
            // those in between are linked by the same field
            firstFree = NONE;
            for (int entry = 0; entry < used; entry++) {
                if (links.tag(entry) == 0) {
                    nexts[entry] = firstFree;
                    firstFree = entry;
                }
            }
        }
    }

    /**
     * @return whether it was a hit
     */
    boolean request(long high, long low)
    {
        int entry = heads[bucket(low)];
        while (entry != NONE && (lows[entry] != low || highs[entry] != high)) {
            entry = nexts[entry];
        }
        if (entry != NONE) {
            queues.use(entry);
            return true;
        }
        if (size == capacity) {
            if (filter && !queues.wouldStay(high, low)) {
                return false;
            }
            evict();
        }
        entry = firstFree;
        if (entry == NONE) {
            entry = used;
            used++;
        }
        else {
            firstFree = nexts[entry];
        }
        highs[entry] = high;
        lows[entry] = low;
        link(entry);
        size++;
        queues.add(entry);
        return false;
    }

    private void evict()
    {
        free(queues.pollVictim());
    }

    /**
     * Those that are not sampled any more would never be asked for, and may look as if they were worth their place.
     */
    void retain(int sampleMask)
    {
        for (int entry = 0; entry < used; entry++) {
            if (links.tag(entry) != 0 && !AdaptiveWindow.isSampled(highs[entry], sampleMask)) {
                queues.remove(entry);
                free(entry);
            }
        }
    }

    private int bucket(long low)
    {
        // other bits than those that choose the line of the sketch
        return (int) (low >>> 32) & (heads.length - 1);
    }

    private void link(int entry)
    {
        int bucket = bucket(lows[entry]);
        nexts[entry] = heads[bucket];
        heads[bucket] = entry;
    }

    private void free(int entry)
    {
        int bucket = bucket(lows[entry]);
        if (heads[bucket] == entry) {
            heads[bucket] = nexts[entry];
        }
        else {
            int before = heads[bucket];
            while (nexts[before] != entry) {
                before = nexts[before];
            }
            nexts[before] = nexts[entry];
        }
        nexts[entry] = firstFree;
        firstFree = entry;
        size--;
    }

    @Override
    public long digestHigh(int entry)
    {
        return highs[entry];
    }

    @Override
    public long digestLow(int entry)
    {
        return lows[entry];
    }

    @Override
    public boolean isPinned(int entry)
    {
        return false;
    }
}
