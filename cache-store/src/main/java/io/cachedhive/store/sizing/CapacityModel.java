package io.cachedhive.store.sizing;

import io.cachedhive.store.BlockClass;
import io.cachedhive.store.policy.EntryLinks;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.policy.FrequencySketch;
import io.cachedhive.store.policy.PolicyEntries;

import java.util.Arrays;

/**
 * A cache without bytes, of a given capacity and with the product's own policy, that tells which requests it could have answered. All blocks are of class
 * normal and none expires.
 */
final class CapacityModel
        implements PolicyEntries
{
    private static final int NONE = EvictionPolicy.NO_ENTRY;
    private static final int FIRST_LENGTH = 64;
    // how many blocks there is room for is told to the policy now and then, since it depends on their sizes
    private static final int REQUESTS_PER_CAPACITY = 64;
    // of which the policy is told: there are never many more blocks
    private static final int MAX_PLACES = 1 << 16;

    private final int typicalBlockBytes;
    private final FrequencySketch sketch = new FrequencySketch();
    private final EvictionPolicy policy;
    private long[] highs = new long[FIRST_LENGTH];
    private long[] lows = new long[FIRST_LENGTH];
    private int[] lengths = new int[FIRST_LENGTH];
    private int[] nexts = new int[FIRST_LENGTH];
    // of the chains of entries, by some bits of the digest
    private int[] heads = new int[FIRST_LENGTH];
    private int used;
    private int firstFree = NONE;
    private int size;
    private long usedBytes;
    private long capacityBytes;
    private int requests;

    /**
     * @param filter whether what is better not written is kept out, as in front of an SSD
     */
    CapacityModel(long capacityBytes, int typicalBlockBytes, boolean filter)
    {
        this.capacityBytes = capacityBytes;
        this.typicalBlockBytes = typicalBlockBytes;
        this.policy = new EvictionPolicy(new EntryLinks(), this, sketch, filter);
        Arrays.fill(heads, NONE);
        tellCapacity();
    }

    int size()
    {
        return size;
    }

    long usedBytes()
    {
        return usedBytes;
    }

    boolean contains(long high, long low)
    {
        return find(high, low) != NONE;
    }

    /**
     * @param length bytes of the block
     * @return whether it was a hit
     */
    boolean request(long high, long low, int length)
    {
        requests++;
        if (requests % REQUESTS_PER_CAPACITY == 0) {
            tellCapacity();
        }
        int entry = find(high, low);
        if (entry != NONE) {
            policy.use(entry);
            return true;
        }
        boolean admitted = policy.request(high, low, BlockClass.NORMAL);
        if (length > capacityBytes || (usedBytes + length > capacityBytes && !admitted)) {
            return false;
        }
        while (usedBytes + length > capacityBytes) {
            free(policy.pollVictim(BlockClass.NORMAL));
        }
        policy.enter(insert(high, low, length), BlockClass.NORMAL);
        return false;
    }

    /**
     * Goes on with half of the capacity and those blocks that are still sampled, which are about half of them.
     */
    void halve(Sample sample)
    {
        capacityBytes /= 2;
        for (int entry = 0; entry < used; entry++) {
            if (policy.contains(entry) && !sample.contains(highs[entry])) {
                policy.remove(entry);
                free(entry);
            }
        }
        while (usedBytes > capacityBytes) {
            free(policy.pollVictim(BlockClass.NORMAL));
        }
        tellCapacity();
    }

    /**
     * Which blocks are looked at.
     */
    @FunctionalInterface
    interface Sample
    {
        boolean contains(long digestHigh);
    }

    private void tellCapacity()
    {
        long meanBytes = size == 0 ? typicalBlockBytes : Math.max(1, usedBytes / size);
        int count = (int) Math.clamp(capacityBytes / meanBytes, 1, MAX_PLACES);
        policy.setCapacity(count);
        sketch.setEntryCount(count);
    }

    private int find(long high, long low)
    {
        int entry = heads[bucket(low)];
        while (entry != NONE && (lows[entry] != low || highs[entry] != high)) {
            entry = nexts[entry];
        }
        return entry;
    }

    private int insert(long high, long low, int length)
    {
        int entry = firstFree;
        if (entry == NONE) {
            if (used == highs.length) {
                grow();
            }
            entry = used;
            used++;
        }
        else {
            firstFree = nexts[entry];
        }
        highs[entry] = high;
        lows[entry] = low;
        lengths[entry] = length;
        link(entry);
        size++;
        usedBytes += length;
        return entry;
    }

    private void grow()
    {
        // all entries are in use here
        int length = 2 * highs.length;
        highs = Arrays.copyOf(highs, length);
        lows = Arrays.copyOf(lows, length);
        lengths = Arrays.copyOf(lengths, length);
        nexts = Arrays.copyOf(nexts, length);
        heads = new int[length];
        Arrays.fill(heads, NONE);
        for (int entry = 0; entry < used; entry++) {
            link(entry);
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
        usedBytes -= lengths[entry];
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
