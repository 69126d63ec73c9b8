package io.cachedhive.store.column;

import java.util.Arrays;

/**
 * A set of nonzero longs without an object per element: open addressing, at most two thirds full.
 */
public final class LongSet
{
    private static final long NONE = 0;

    private long[] places = new long[16];
    private int size;

    public boolean add(long value)
    {
        if (value == NONE) {
            throw new IllegalArgumentException("the set does not take 0");
        }
        int place = place(places, value);
        if (places[place] == value) {
            return false;
        }
        places[place] = value;
        size++;
        if (size > places.length / 3 * 2) {
            long[] larger = new long[2 * places.length];
            Arrays.stream(places).filter(kept -> kept != NONE).forEach(kept -> larger[place(larger, kept)] = kept);
            places = larger;
        }
        return true;
    }

    public boolean contains(long value)
    {
        return value != NONE && places[place(places, value)] == value;
    }

    public int size()
    {
        return size;
    }

    private static int place(long[] places, long value)
    {
        int mask = places.length - 1;
        int place = (int) ((value * 0x9E3779B97F4A7C15L) >>> 32) & mask;
        while (places[place] != NONE && places[place] != value) {
            place = (place + 1) & mask;
        }
        return place;
    }
}
