package io.cachedhive.store.column;

import java.util.Arrays;

/**
 * A field of numbered things, in pieces, so that it grows without ever being copied as a whole. A piece takes memory once one of its elements is
 * set. Elements that were not set are 0, or what the column was made with.
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
     * @param unset what elements are that were not set
     */
    public IntColumn(int unset)
    {
        this.unset = unset;
        this.unsetPiece = new int[PIECE];
        Arrays.fill(unsetPiece, unset);
    }

    /**
     * Elements that were set are below this.
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
     * Like {@link #get}, but beyond what was ever set as well.
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
