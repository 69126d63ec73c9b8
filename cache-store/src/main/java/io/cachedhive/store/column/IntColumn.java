package io.cachedhive.store.column;

import java.util.Arrays;

/**
 * A growable array of ints. It grows in pieces, so that growth never copies all elements. A piece uses memory once an
 * element of it is set. Unset elements have a default value.
 */
public final class IntColumn
{
    private static final int PIECE_BITS = 12;
    private static final int PIECE = 1 << PIECE_BITS;
    private static final int PIECE_MASK = PIECE - 1;

    private final int unset;
    private final int[] unsetPiece;
    private int[][] pieces = {};
    private int pieceCount;

    public IntColumn()
    {
        this(0);
    }

    /**
     * @param unset value of unset elements
     */
    public IntColumn(int unset)
    {
        this.unset = unset;
        this.unsetPiece = new int[PIECE];
        Arrays.fill(unsetPiece, unset);
    }

    /**
     * Returns the exclusive upper bound for {@link #get}.
     */
    public int size()
    {
        return pieceCount << PIECE_BITS;
    }

    /**
     * @param index below {@link #size}
     */
    public int get(int index)
    {
        return pieces[index >> PIECE_BITS][index & PIECE_MASK];
    }

    /**
     * Returns an element, or the default value beyond the last one set.
     */
    public int find(int index)
    {
        return index < size() ? get(index) : unset;
    }

    public void set(int index, int value)
    {
        int piece = index >> PIECE_BITS;
        if (piece >= pieceCount) {
            extend(piece + 1);
        }
        if (pieces[piece] == unsetPiece) {
            pieces[piece] = unsetPiece.clone();
        }
        pieces[piece][index & PIECE_MASK] = value;
    }

    private void extend(int count)
    {
        if (count > pieces.length) {
            pieces = Arrays.copyOf(pieces, count + count / 8);
        }
        Arrays.fill(pieces, pieceCount, count, unsetPiece);
        pieceCount = count;
    }
}
