package io.cachedhive.store.column;

import java.util.Arrays;

/**
 * A growable array of bytes, like {@link IntColumn}; unset elements are 0.
 */
public final class ByteColumn
{
    private static final int PIECE_BITS = 12;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int PIECE_MASK = PIECE - 1;
    private static final byte[] UNSET_PIECE = new byte[PIECE];

    private byte[][] pieces = {};
    private int pieceCount;

    public byte get(int index)
    {
        return pieces[index >> PIECE_BITS][index & PIECE_MASK];
    }

    /**
     * Returns an element, or 0 beyond the last one set.
     */
    public byte find(int index)
    {
        return index >> PIECE_BITS < pieceCount ? get(index) : 0;
    }

    public void set(int index, int value)
    {
        int piece = index >> PIECE_BITS;
        if (piece >= pieceCount) {
            extend(piece + 1);
        }
        if (pieces[piece] == UNSET_PIECE) {
            pieces[piece] = new byte[PIECE];
        }
        pieces[piece][index & PIECE_MASK] = (byte) value;
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
