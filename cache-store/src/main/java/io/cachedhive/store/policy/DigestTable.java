package io.cachedhive.store.policy;

import java.util.Arrays;

/**
 * A hash table from digests to entry numbers, for small cache models. Entries are numbered densely from 0, so that
 * callers can keep their own fields in arrays. Not thread-safe.
 */
public final class DigestTable
{
    /**
     * The value for no entry.
     */
    public static final int NONE = EntryLinks.NONE;

    private static final int FIRST_LENGTH = 64;

    private long[] highs = new long[FIRST_LENGTH];
    private long[] lows = new long[FIRST_LENGTH];
    // links of a chain, or of the free list
    private int[] nexts = new int[FIRST_LENGTH];
    // heads of the chains, by bits of the digest
    private int[] heads = newHeads(FIRST_LENGTH);
    private int used;
    private int firstFree = NONE;
    private int size;

    public int size()
    {
        return size;
    }

    /**
     * Returns the exclusive upper bound of entries; some below it may be free.
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
     * @return the entry of the new digest; reuses free entries
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
     * Frees an entry returned by {@link #insert}.
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
        // uses other bits than the sketch uses for its lines
        return (int) (low >>> 32) & (heads.length - 1);
    }

    private void link(int entry)
    {
        int bucket = bucket(lows[entry]);
        nexts[entry] = heads[bucket];
        heads[bucket] = entry;
    }
}
