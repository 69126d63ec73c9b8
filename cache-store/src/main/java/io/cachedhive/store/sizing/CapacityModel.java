package io.cachedhive.store.sizing;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.policy.DigestTable;
import io.cachedhive.store.policy.EntryLinks;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.policy.FrequencySketch;
import io.cachedhive.store.policy.PolicyEntries;

import java.util.Arrays;

import static io.cachedhive.store.policy.DigestTable.NONE;

/**
 * A cache model without contents, with a given capacity and the actual eviction policy, which determines hits. All
 * blocks are of class normal and never expire.
 */
final class CapacityModel
        implements PolicyEntries
{
    private static final int FIRST_LENGTH = 64;
    // the capacity in blocks depends on their sizes, so the policy's value is updated regularly
    private static final int REQUESTS_PER_CAPACITY = 64;
    // limit on the capacity in blocks; a model rarely has more
    private static final int MAX_PLACES = 1 << 16;

    private final int typicalBlockBytes;
    private final FrequencySketch sketch = new FrequencySketch();
    private final EvictionPolicy policy;
    private final DigestTable entries = new DigestTable();
    // lengths of the blocks by entry
    private int[] lengths = new int[FIRST_LENGTH];
    private long usedBytes;
    private long capacityBytes;
    private int requests;

    /**
     * @param filter whether to model the admission filter in front of an SSD tier
     */
    CapacityModel(long capacityBytes, int typicalBlockBytes, boolean filter)
    {
        this.capacityBytes = capacityBytes;
        this.typicalBlockBytes = typicalBlockBytes;
        this.policy = new EvictionPolicy(new EntryLinks(), this, sketch, filter);
        updateCapacity();
    }

    int size()
    {
        return entries.size();
    }

    long usedBytes()
    {
        return usedBytes;
    }

    boolean contains(long high, long low)
    {
        return entries.find(high, low) != NONE;
    }

    /**
     * @param length bytes of the block
     * @return whether it was a hit
     */
    boolean request(long high, long low, int length)
    {
        requests++;
        if (requests % REQUESTS_PER_CAPACITY == 0) {
            updateCapacity();
        }
        int entry = entries.find(high, low);
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
     * Halves the capacity and keeps the blocks that are still in the sample, about half of them.
     */
    void halve(Sample sample)
    {
        capacityBytes /= 2;
        for (int entry = 0; entry < entries.end(); entry++) {
            if (policy.contains(entry) && !sample.contains(entries.high(entry))) {
                policy.remove(entry);
                free(entry);
            }
        }
        while (usedBytes > capacityBytes) {
            free(policy.pollVictim(BlockClass.NORMAL));
        }
        updateCapacity();
    }

    /**
     * Selects the sampled blocks.
     */
    @FunctionalInterface
    interface Sample
    {
        boolean contains(long digestHigh);
    }

    private void updateCapacity()
    {
        long meanBytes = entries.size() == 0 ? typicalBlockBytes : Math.max(1, usedBytes / entries.size());
        int count = Math.clamp(capacityBytes / meanBytes, 1, MAX_PLACES);
        policy.setCapacity(count);
        sketch.setEntryCount(count);
    }

    private int insert(long high, long low, int length)
    {
        int entry = entries.insert(high, low);
        if (entry >= lengths.length) {
            lengths = Arrays.copyOf(lengths, 2 * lengths.length);
        }
        lengths[entry] = length;
        usedBytes += length;
        return entry;
    }

    private void free(int entry)
    {
        entries.remove(entry);
        usedBytes -= lengths[entry];
    }

    @Override
    public long digestHigh(int entry)
    {
        return entries.high(entry);
    }

    @Override
    public long digestLow(int entry)
    {
        return entries.low(entry);
    }

    @Override
    public boolean isPinned(int entry)
    {
        return false;
    }
}
