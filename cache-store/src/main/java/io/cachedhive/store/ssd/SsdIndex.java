package io.cachedhive.store.ssd;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;

import java.util.Arrays;

import static com.google.common.base.Verify.verify;

/**
 * The index of a directory's blocks, without an object per block: about 55 bytes each. Guarded by the store's lock.
 *
 * <p>Entries are numbered. Their fields are stored in arrays that grow in pieces, so that growth never copies all
 * entries. Entries of a bucket are chained. The number of buckets grows one at a time, and each new bucket splits the
 * chain of one other, so no insertion is slow (linear hashing; Litwin, "Linear hashing: a new tool for file and table
 * addressing", 1980).
 */
final class SsdIndex
{
    static final int NONE = -1;

    private static final int PIECE_BITS = 12;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int PIECE_MASK = PIECE - 1;
    // limits the effect of a damaged count to 256 MiB
    private static final int MAX_RESERVED = 1 << 26;
    private static final BlockClass[] CLASSES = BlockClass.values();

    private long[][] digestHighs = new long[0][];
    private long[][] digestLows = new long[0][];
    private long[][] sequences = new long[0][];
    private int[][] slabs = new int[0][];
    private int[][] extents = new int[0][];
    private int[][] lengths = new int[0][];
    private int[][] files = new int[0][];
    private int[][] nexts = new int[0][];
    private byte[][] classes = new byte[0][];
    // unsigned epoch seconds
    private int[][] expiries = new int[0][];

    private int[][] buckets = {emptyBuckets()};
    private int bucketCount = PIECE;

    private int limit;
    private int firstFree = NONE;
    private int size;
    private long visits;

    private static int[] emptyBuckets()
    {
        int[] piece = new int[PIECE];
        Arrays.fill(piece, NONE);
        return piece;
    }

    int size()
    {
        return size;
    }

    /**
     * Returns the number of entries that were looked up or visited. Tests use it to bound the work under the lock.
     */
    long visits()
    {
        return visits;
    }

    /**
     * Returns the exclusive upper bound of entry numbers; some below it are free.
     */
    int limit()
    {
        return limit;
    }

    /**
     * @return the entry's number, or {@link #NONE}
     */
    int find(long digestHigh, long digestLow)
    {
        visits++;
        int entry = bucketHead(bucket(digestLow));
        while (entry != NONE && (digestLow(entry) != digestLow || digestHigh(entry) != digestHigh)) {
            entry = next(entry);
        }
        return entry;
    }

    /**
     * Sizes an empty index for the given number of entries, so that their insertion splits no bucket.
     */
    void reserve(long entries)
    {
        verify(size == 0, "the index is in use");
        int count = Math.clamp(entries, PIECE, MAX_RESERVED);
        buckets = new int[(count + PIECE_MASK) >> PIECE_BITS][];
        for (int i = 0; i < buckets.length; i++) {
            buckets[i] = emptyBuckets();
        }
        bucketCount = count;
    }

    /**
     * Prefetches into the processor's cache the memory that {@link #touch} will read first. This is a separate step,
     * because a mispredicted branch on an empty bucket would discard the speculative loads for the next digests.
     *
     * @return a meaningless number that keeps the read from being optimized away
     */
    int touchBucket(long digestLow)
    {
        return bucketHead(bucket(digestLow));
    }

    /**
     * Prefetches into the processor's cache the memory that {@link #find} will read. A loop over several digests takes
     * little longer than a single call, because the loads are independent.
     *
     * @return a meaningless number that keeps the read from being optimized away
     */
    int touch(long digestLow)
    {
        int head = bucketHead(bucket(digestLow));
        return head == NONE ? 0 : (int) digestLow(head) + next(head);
    }

    /**
     * Inserts a block that has no entry yet.
     */
    int insert(long digestHigh, long digestLow, long sequence, int slab, int extent, int length, int file, BlockTerms terms)
    {
        int entry = firstFree;
        if (entry != NONE) {
            firstFree = next(entry);
        }
        else {
            entry = limit;
            if (entry >> PIECE_BITS == digestHighs.length) {
                addPiece();
            }
            limit++;
        }
        int piece = entry >> PIECE_BITS;
        int place = entry & PIECE_MASK;
        digestHighs[piece][place] = digestHigh;
        digestLows[piece][place] = digestLow;
        sequences[piece][place] = sequence;
        slabs[piece][place] = slab;
        extents[piece][place] = extent;
        lengths[piece][place] = length;
        files[piece][place] = file;
        classes[piece][place] = (byte) terms.blockClass().ordinal();
        expiries[piece][place] = (int) terms.expirySeconds();
        link(entry, bucket(digestLow));
        size++;
        if (size > bucketCount) {
            split();
        }
        return entry;
    }

    void remove(int entry)
    {
        verify(isUsed(entry), "entry %s is free", entry);
        int bucket = bucket(digestLow(entry));
        int previous = NONE;
        int current = bucketHead(bucket);
        while (current != entry) {
            previous = current;
            current = next(current);
        }
        if (previous == NONE) {
            buckets[bucket >> PIECE_BITS][bucket & PIECE_MASK] = next(entry);
        }
        else {
            setNext(previous, next(entry));
        }
        lengths[entry >> PIECE_BITS][entry & PIECE_MASK] = NONE;
        setNext(entry, firstFree);
        firstFree = entry;
        size--;
    }

    void clear()
    {
        digestHighs = new long[0][];
        digestLows = new long[0][];
        sequences = new long[0][];
        slabs = new int[0][];
        extents = new int[0][];
        lengths = new int[0][];
        files = new int[0][];
        nexts = new int[0][];
        classes = new byte[0][];
        expiries = new int[0][];
        buckets = new int[][] {emptyBuckets()};
        bucketCount = PIECE;
        limit = 0;
        firstFree = NONE;
        size = 0;
    }

    private void addPiece()
    {
        int count = digestHighs.length + 1;
        digestHighs = Arrays.copyOf(digestHighs, count);
        digestHighs[count - 1] = new long[PIECE];
        digestLows = Arrays.copyOf(digestLows, count);
        digestLows[count - 1] = new long[PIECE];
        sequences = Arrays.copyOf(sequences, count);
        sequences[count - 1] = new long[PIECE];
        slabs = Arrays.copyOf(slabs, count);
        slabs[count - 1] = new int[PIECE];
        extents = Arrays.copyOf(extents, count);
        extents[count - 1] = new int[PIECE];
        lengths = Arrays.copyOf(lengths, count);
        lengths[count - 1] = new int[PIECE];
        files = Arrays.copyOf(files, count);
        files[count - 1] = new int[PIECE];
        nexts = Arrays.copyOf(nexts, count);
        nexts[count - 1] = new int[PIECE];
        classes = Arrays.copyOf(classes, count);
        classes[count - 1] = new byte[PIECE];
        expiries = Arrays.copyOf(expiries, count);
        expiries[count - 1] = new int[PIECE];
    }

    private int bucket(long digestLow)
    {
        // the digest is uniform, so any of its bits will do
        int hash = (int) (digestLow >>> 20);
        int mask = (Integer.highestOneBit(bucketCount - 1) << 1) - 1;
        int bucket = hash & mask;
        return bucket < bucketCount ? bucket : bucket & (mask >>> 1);
    }

    private int bucketHead(int bucket)
    {
        return buckets[bucket >> PIECE_BITS][bucket & PIECE_MASK];
    }

    private void link(int entry, int bucket)
    {
        setNext(entry, bucketHead(bucket));
        buckets[bucket >> PIECE_BITS][bucket & PIECE_MASK] = entry;
    }

    private void split()
    {
        int added = bucketCount;
        int divided = added - Integer.highestOneBit(added);
        if (added >> PIECE_BITS == buckets.length) {
            buckets = Arrays.copyOf(buckets, buckets.length + 1);
            buckets[buckets.length - 1] = emptyBuckets();
        }
        int entry = bucketHead(divided);
        buckets[divided >> PIECE_BITS][divided & PIECE_MASK] = NONE;
        bucketCount++;
        while (entry != NONE) {
            int next = next(entry);
            link(entry, bucket(digestLow(entry)));
            entry = next;
        }
    }

    boolean isUsed(int entry)
    {
        visits++;
        return lengths[entry >> PIECE_BITS][entry & PIECE_MASK] != NONE;
    }

    long digestHigh(int entry)
    {
        return digestHighs[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    long digestLow(int entry)
    {
        return digestLows[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    long sequence(int entry)
    {
        return sequences[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    int slab(int entry)
    {
        return slabs[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    int extent(int entry)
    {
        return extents[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    int length(int entry)
    {
        return lengths[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    /**
     * Returns the ordinal of the file.
     */
    int file(int entry)
    {
        return files[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    BlockTerms terms(int entry)
    {
        return new BlockTerms(blockClass(entry), expirySeconds(entry));
    }

    void setTerms(int entry, BlockTerms terms)
    {
        classes[entry >> PIECE_BITS][entry & PIECE_MASK] = (byte) terms.blockClass().ordinal();
        expiries[entry >> PIECE_BITS][entry & PIECE_MASK] = (int) terms.expirySeconds();
    }

    BlockClass blockClass(int entry)
    {
        return CLASSES[classes[entry >> PIECE_BITS][entry & PIECE_MASK]];
    }

    long expirySeconds(int entry)
    {
        return Integer.toUnsignedLong(expiries[entry >> PIECE_BITS][entry & PIECE_MASK]);
    }

    private int next(int entry)
    {
        return nexts[entry >> PIECE_BITS][entry & PIECE_MASK];
    }

    private void setNext(int entry, int next)
    {
        nexts[entry >> PIECE_BITS][entry & PIECE_MASK] = next;
    }
}
