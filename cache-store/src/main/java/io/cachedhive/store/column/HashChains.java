package io.cachedhive.store.column;

import java.util.function.IntToLongFunction;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * Finds numbered things by a hash: 8 bytes each. Those of one bucket are chained; buckets are added one at a time, each taking over
 * its part of the chain of one other (linear hashing; Litwin, "Linear hashing: a new tool for file and table addressing", 1980), so
 * that no insertion takes longer than the others.
 */
public final class HashChains
{
    public static final int NONE = -1;

    private static final int MIN_BUCKETS = 1 << 12;
    private static final int MAX_RESERVED = 1 << 26;

    private final IntToLongFunction hash;
    private final IntColumn buckets = new IntColumn(NONE);
    private final IntColumn nexts = new IntColumn();
    private int bucketCount = MIN_BUCKETS;
    private int size;

    /**
     * @param hash of a thing that is linked; its bits are evenly distributed
     */
    public HashChains(IntToLongFunction hash)
    {
        this.hash = requireNonNull(hash, "hash is null");
    }

    public int size()
    {
        return size;
    }

    /**
     * Prepares for so many things, while there is none: linking them divides no bucket then.
     */
    public void reserve(long things)
    {
        verify(size == 0, "something is linked already");
        bucketCount = Math.clamp(things, MIN_BUCKETS, MAX_RESERVED);
    }

    /**
     * The first of those that may have the hash, or {@link #NONE}.
     */
    public int first(long hash)
    {
        return buckets.find(bucket(hash));
    }

    /**
     * The next one after it, or {@link #NONE}.
     */
    public int next(int index)
    {
        return nexts.get(index);
    }

    public void link(int index)
    {
        linkTo(bucket(hash.applyAsLong(index)), index);
        size++;
        if (size > bucketCount) {
            split();
        }
    }

    /**
     * @param index of one that is linked
     */
    public void unlink(int index)
    {
        int bucket = bucket(hash.applyAsLong(index));
        int current = buckets.get(bucket);
        if (current == index) {
            buckets.set(bucket, nexts.get(index));
        }
        else {
            while (nexts.get(current) != index) {
                current = nexts.get(current);
            }
            nexts.set(current, nexts.get(index));
        }
        size--;
    }

    private int bucket(long hash)
    {
        int bits = (int) (hash >>> 20);
        int mask = (Integer.highestOneBit(bucketCount - 1) << 1) - 1;
        int bucket = bits & mask;
        return bucket < bucketCount ? bucket : bucket & (mask >>> 1);
    }

    private void linkTo(int bucket, int index)
    {
        nexts.set(index, buckets.find(bucket));
        buckets.set(bucket, index);
    }

    private void split()
    {
        int added = bucketCount;
        int divided = added - Integer.highestOneBit(added);
        int index = buckets.find(divided);
        buckets.set(divided, NONE);
        bucketCount++;
        while (index != NONE) {
            int next = nexts.get(index);
            linkTo(bucket(hash.applyAsLong(index)), index);
            index = next;
        }
    }
}
