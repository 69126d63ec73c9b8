package io.cachedhive.store.column;

import java.util.function.IntToLongFunction;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * A hash index of numbered items, with 8 bytes per item. Items of a bucket are chained. The number of buckets grows one
 * at a time, and each new bucket splits the chain of one other, so no insertion is slow (linear hashing; Litwin,
 * "Linear hashing: a new tool for file and table addressing", 1980).
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
     * @param hash returns the evenly distributed hash of a linked item
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
     * Sizes an empty index for the given number of items, so that linking them splits no bucket.
     */
    public void reserve(long things)
    {
        verify(size == 0, "something is linked already");
        bucketCount = Math.clamp(things, MIN_BUCKETS, MAX_RESERVED);
    }

    /**
     * Returns the first item of the hash's chain, or {@link #NONE}.
     */
    public int first(long hash)
    {
        return buckets.find(bucket(hash));
    }

    /**
     * Returns the next item of the chain, or {@link #NONE}.
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
     * @param index a linked item
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
