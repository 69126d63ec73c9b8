package io.cachedhive.store.policy;

import java.util.Arrays;

/**
 * Approximates how often blocks were requested recently, including blocks that are not cached. This is a count-min
 * sketch (Cormode and Muthukrishnan, "An improved data stream summary", 2005) with counters of 4 bits, eight bytes per
 * entry. A block has four counters in one cache line, and the lowest counts.
 *
 * <p>Counters age: after ten uses per entry, an epoch ends and all counters are halved. This happens lazily, because
 * halving all at once would block all threads: a line is halved on its next access, or before the epoch ends. Each line
 * has its epoch number. Growth does not copy everything either: lines are added one at a time, each as a copy of the
 * line whose blocks it splits (linear hashing; Litwin, "Linear hashing: a new tool for file and table addressing",
 * 1980). Not thread-safe.
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
    // epoch of each line, and the current one; they wrap around, and no line is more than one behind
    private byte[][] epochs = {new byte[PIECE_LINES]};
    private int lineCount = 1;
    private byte epoch;
    private long usesInEpoch;
    // lines below this are in the current epoch
    private int linesHalved = 1;

    /**
     * @param count number of places; the sketch never shrinks
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
     * Returns the frequency, from 0 to {@link #MAX_FREQUENCY}.
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
     * Raises the frequency of a block to at least the value of an earlier run.
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
     * Prefetches the counters of a block into the processor's cache. A loop over several blocks takes little longer
     * than a single call.
     *
     * @return a meaningless number that keeps the read from being optimized away
     */
    public int touch(long digestLow)
    {
        int line = line(digestLow);
        long[] piece = counters[line >> PIECE_BITS];
        int first = LINE * (line & PIECE_MASK);
        // reads both ends, because the array header shifts the lines against the cache lines
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
        // digests are uniform, so any of their bits will do
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
