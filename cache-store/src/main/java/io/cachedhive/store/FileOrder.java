package io.cachedhive.store;

import java.util.Arrays;
import java.util.stream.IntStream;

import static java.util.Objects.requireNonNull;

/**
 * Orders the files of one moment by id, as unsigned numbers, so that a prefix of the id selects a range. Immutable.
 */
final class FileOrder
{
    private final long[] digestHighs;
    private final int[] ordinals;
    private final long madeNanos;

    private FileOrder(long[] digestHighs, int[] ordinals, long madeNanos)
    {
        this.digestHighs = requireNonNull(digestHighs, "digestHighs is null");
        this.ordinals = requireNonNull(ordinals, "ordinals is null");
        this.madeNanos = madeNanos;
    }

    /**
     * Returns the creation time by the store's clock.
     */
    long madeNanos()
    {
        return madeNanos;
    }

    /**
     * Returns the position of the first file with the given prefix.
     *
     * @param bits number of leading bits of the prefix to compare
     */
    int first(int bits, long prefix)
    {
        return bits == 0 ? 0 : lowerBound(prefix & mask(bits));
    }

    /**
     * Returns the position after the last file with the given prefix.
     */
    int end(int bits, long prefix)
    {
        long next = bits == 0 ? 0 : (prefix & mask(bits)) + (1L << (64 - bits));
        // the addition overflows to 0 for the last prefix
        return next == 0 ? ordinals.length : lowerBound(next);
    }

    private static long mask(int bits)
    {
        return -1L << (64 - bits);
    }

    private int lowerBound(long digestHigh)
    {
        int low = 0;
        int high = digestHighs.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(digestHighs[middle], digestHigh) < 0) {
                low = middle + 1;
            }
            else {
                high = middle;
            }
        }
        return low;
    }

    long digestHigh(int place)
    {
        return digestHighs[place];
    }

    int ordinal(int place)
    {
        return ordinals[place];
    }

    static final class Builder
    {
        private long[] digestHighs = new long[1024];
        private int[] ordinals = new int[1024];
        private int size;

        void add(long digestHigh, int ordinal)
        {
            if (size == ordinals.length) {
                digestHighs = Arrays.copyOf(digestHighs, 2 * size);
                ordinals = Arrays.copyOf(ordinals, 2 * size);
            }
            digestHighs[size] = digestHigh;
            ordinals[size] = ordinal;
            size++;
        }

        FileOrder build(long nowNanos)
        {
            int[] places = IntStream.range(0, size)
                    .boxed()
                    .sorted((one, other) -> Long.compareUnsigned(digestHighs[one], digestHighs[other]))
                    .mapToInt(Integer::intValue)
                    .toArray();
            long[] orderedHighs = new long[size];
            int[] orderedOrdinals = new int[size];
            for (int i = 0; i < size; i++) {
                orderedHighs[i] = digestHighs[places[i]];
                orderedOrdinals[i] = ordinals[places[i]];
            }
            return new FileOrder(orderedHighs, orderedOrdinals, nowNanos);
        }
    }
}
