package io.cachedhive.store.column;

import java.util.Arrays;

/**
 * A growable array of longs, like {@link IntColumn}; unset elements are 0.
 */
public final class LongColumn
{
    private static final int PIECE_BITS = 12;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int PIECE_MASK = PIECE - 1;
    private static final long[] UNSET_PIECE = new long[PIECE];

    private long[][] pieces = {};
    private int pieceCount;

    public long get(int index)
    {
        return pieces[index >> PIECE_BITS][index & PIECE_MASK];
    }

    public void set(int index, long value)
    {
        int piece = index >> PIECE_BITS;
        if (piece >= pieceCount) {
            extend(piece + 1);
        }
        if (pieces[piece] == UNSET_PIECE) {
            pieces[piece] = new long[PIECE];
        }
        pieces[piece][index & PIECE_MASK] = value;
    }

    private void extend(int count)
    {
        if (count > pieces.length) {
            pieces = Arrays.copyOf(pieces, count + count / 8);
        }
        Arrays.fill(pieces, pieceCount, count, UNSET_PIECE);
        pieceCount = count;
    }
}
