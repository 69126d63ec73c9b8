package io.cachedhive.store.policy;

import java.util.Arrays;

/**
 * Finds the entries of a small cache without bytes by their blocks' digests. Entries are numbered from 0 without large gaps, so that others can keep what they
 * know of an entry in arrays. Not for several threads.
 */
public final class DigestTable
{
    /** Instead of an entry. */
    public static final int NONE = EntryLinks.NONE;

    private static final int FIRST_LENGTH = 64;

    private long[] highs = new long[FIRST_LENGTH];
    private long[] lows = new long[FIRST_LENGTH];
    // within a chain, or among the free ones
    private int[] nexts = new int[FIRST_LENGTH];
    // of the chains of entries, by some bits of the digest
    private int[] heads = newHeads(FIRST_LENGTH);
    private int used;
    private int firstFree = NONE;
    private int size;

    public int size()
    {
        return size;
    }

    /**
     * All entries are below; some below may be free.
     */
    public int end()
    {
        return used;
    }

    public long high(int entry)
    {
        return highs[entry];
    }

    public long low(int entry)
    {
        return lows[entry];
    }

    /**
     * @return the entry, or {@link #NONE}
     */
    public int find(long high, long low)
    {
        int entry = heads[bucket(low)];
        while (entry != NONE && (lows[entry] != low || highs[entry] != high)) {
            entry = nexts[entry];
        }
        return entry;
    }

    /**
     * @return the entry for a digest that has none yet; one that was free, if there is one
     */
    public int insert(long high, long low)
    {
        int entry = firstFree;
        if (entry == NONE) {
            if (used == highs.length) {
                resize(2 * highs.length);
            }
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
        return entry;
    }

    /**
     * Frees an entry that {@link #insert} gave.
     */
    public void remove(int entry)
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

    private void resize(int length)
    {
        int[] oldHeads = heads;
        int[] oldNexts = nexts;
        highs = Arrays.copyOf(highs, length);
        lows = Arrays.copyOf(lows, length);
        nexts = Arrays.copyOf(nexts, length);
        heads = newHeads(length);
        for (int head : oldHeads) {
            for (int entry = head; entry != NONE; entry = oldNexts[entry]) {
                link(entry);
            }
        }
    }

    private static int[] newHeads(int length)
    {
        int[] heads = new int[length];
        Arrays.fill(heads, NONE);
        return heads;
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
}
