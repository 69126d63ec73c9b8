package io.cachedhive.store.policy;

import java.util.Arrays;

/**
 * How often a block was asked for lately, also if it is not here: a count-min sketch (Cormode and Muthukrishnan, "An improved data stream summary",
 * 2005) of counters of 4 bits, eight bytes for each entry. A block has four counters within one cache line, and the lowest of them counts.
 *
 * <p>What was popular long ago gives way: after every ten uses for each entry an epoch ends, and all counters are halved. They are not
 * halved at that moment, which would hold up everybody, but when they are next looked at, or before the epoch ends; each line knows the epoch
 * that it is in. Nor is anything copied as a whole when there are more entries: lines are added one at a time, each as a copy of
 * the one whose blocks it takes half of (linear hashing; Litwin, "Linear hashing: a new tool for file and table addressing", 1980). Not safe for use by
 * several threads.
 */
public final class FrequencySketch
{
    static final int MAX_FREQUENCY = 15;

    private static final int USES_PER_ENTRY = 10;
    private static final int LINE = 8;
    private static final int DEPTH = 4;
    // halves sixteen counters at once
    private static final long HALF_MASK = 0x7777_7777_7777_7777L;
    private static final int PIECE_BITS = 9;
    private static final int PIECE_LINES = 1 << PIECE_BITS;
    private static final int PIECE_MASK = PIECE_LINES - 1;

    private long[][] counters = {new long[LINE * PIECE_LINES]};
    // of each line, and the present one; they wrap around, and none is more than one behind
    private byte[][] epochs = {new byte[PIECE_LINES]};
    private int lineCount = 1;
    private byte epoch;
    private long usesInEpoch;
    // lines below this are in the present epoch
    private int linesHalved = 1;

    /**
     * @param count of blocks that there is room for; the sketch never becomes smaller
     */
    public void setEntryCount(int count)
    {
        while (lineCount < count / LINE) {
            addLine();
        }
    }

    private void addLine()
    {
        int added = lineCount;
        int divided = added - Integer.highestOneBit(added);
        halve(divided);
        if (added >> PIECE_BITS == counters.length) {
            int length = counters.length + 1 + counters.length / 8;
            counters = Arrays.copyOf(counters, length);
            epochs = Arrays.copyOf(epochs, length);
        }
        if (counters[added >> PIECE_BITS] == null) {
            counters[added >> PIECE_BITS] = new long[LINE * PIECE_LINES];
            epochs[added >> PIECE_BITS] = new byte[PIECE_LINES];
        }
        System.arraycopy(counters[divided >> PIECE_BITS], LINE * (divided & PIECE_MASK), counters[added >> PIECE_BITS], LINE * (added & PIECE_MASK), LINE);
        epochs[added >> PIECE_BITS][added & PIECE_MASK] = epoch;
        if (linesHalved == lineCount) {
            linesHalved++;
        }
        lineCount++;
    }

    /**
     * From 0 to {@link #MAX_FREQUENCY}.
     */
    public int frequency(long digestHigh, long digestLow)
    {
        int line = line(digestLow);
        halve(line);
        long[] piece = counters[line >> PIECE_BITS];
        int first = LINE * (line & PIECE_MASK);
        int frequency = MAX_FREQUENCY;
        for (int i = 0; i < DEPTH; i++) {
            frequency = Math.min(frequency, (int) (piece[first + place(digestHigh, i)] >>> shift(digestHigh, i)) & MAX_FREQUENCY);
        }
        return frequency;
    }

    /**
     * A block that an earlier run knew as asked for so often.
     */
    public void raise(long digestHigh, long digestLow, int frequency)
    {
        int line = line(digestLow);
        halve(line);
        long[] piece = counters[line >> PIECE_BITS];
        int first = LINE * (line & PIECE_MASK);
        long raised = Math.clamp(frequency, 0, MAX_FREQUENCY);
        for (int i = 0; i < DEPTH; i++) {
            int place = first + place(digestHigh, i);
            int shift = shift(digestHigh, i);
            long present = (piece[place] >>> shift) & MAX_FREQUENCY;
            if (present < raised) {
                piece[place] += (raised - present) << shift;
            }
        }
    }

    /**
     * Brings what is known of a block into the processor's cache. For several blocks one after the other this takes little more than for one.
     *
     * @return of no use, so that it is not optimised away
     */
    public int touch(long digestLow)
    {
        int line = line(digestLow);
        long[] piece = counters[line >> PIECE_BITS];
        int first = LINE * (line & PIECE_MASK);
        // an array's header moves its lines against those of the cache
        return (int) (piece[first] + piece[first + LINE - 1]) + epochs[line >> PIECE_BITS][line & PIECE_MASK];
    }

    public void increment(long digestHigh, long digestLow)
    {
        int line = line(digestLow);
        halve(line);
        long[] piece = counters[line >> PIECE_BITS];
        int first = LINE * (line & PIECE_MASK);
        boolean counted = false;
        for (int i = 0; i < DEPTH; i++) {
            int place = first + place(digestHigh, i);
            int shift = shift(digestHigh, i);
            if (((piece[place] >>> shift) & MAX_FREQUENCY) < MAX_FREQUENCY) {
                piece[place] += 1L << shift;
                counted = true;
            }
        }
        if (counted) {
            age();
        }
    }

    private void age()
    {
        usesInEpoch++;
        long uses = (long) USES_PER_ENTRY * LINE * lineCount;
        finishHalving((int) Math.min(lineCount, 1 + 2 * usesInEpoch * lineCount / uses));
        if (usesInEpoch >= uses) {
            usesInEpoch = 0;
            linesHalved = 0;
            epoch++;
        }
    }

    private void finishHalving(int limit)
    {
        for (; linesHalved < limit; linesHalved++) {
            halve(linesHalved);
        }
    }

    private void halve(int line)
    {
        byte[] lineEpochs = epochs[line >> PIECE_BITS];
        if (lineEpochs[line & PIECE_MASK] != epoch) {
            lineEpochs[line & PIECE_MASK] = epoch;
            long[] piece = counters[line >> PIECE_BITS];
            int first = LINE * (line & PIECE_MASK);
            for (int i = first; i < first + LINE; i++) {
                piece[i] = (piece[i] >>> 1) & HALF_MASK;
            }
        }
    }

    private int line(long digestLow)
    {
        // digests are uniform: any of their bits will do
        int hash = (int) digestLow;
        int mask = (Integer.highestOneBit(lineCount) << 1) - 1;
        int line = hash & mask;
        return line < lineCount ? line : line & (mask >>> 1);
    }

    private static int place(long digestHigh, int row)
    {
        return 2 * row + ((int) (digestHigh >>> (8 * row)) & 1);
    }

    private static int shift(long digestHigh, int row)
    {
        return ((int) (digestHigh >>> (8 * row + 1)) & 15) << 2;
    }
}
