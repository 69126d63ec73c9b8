package io.cachedhive.protocol.checksum;

import java.util.Arrays;

import static java.util.Objects.requireNonNull;

/**
 * The checksums of a range of a block. Boundaries at each 64 KiB of the block divide the range into parts, and each part
 * has its CRC32C. A part that has all bytes of the block between two boundaries is a piece.
 *
 * <p>Immutable.
 */
public final class PieceChecksums
{
    public static final int PIECE_BYTES = 64 << 10;

    private final int offset;
    private final int length;
    private final int[] values;

    /**
     * @param offset of the range in its block
     * @param length of the range
     * @param values of each part in order; belongs to this object from now on
     */
    public PieceChecksums(int offset, int length, int[] values)
    {
        if (offset < 0 || length < 0 || offset > Integer.MAX_VALUE - PIECE_BYTES - length) {
            throw new IllegalArgumentException("not a range: %s bytes at %s".formatted(length, offset));
        }
        if (values.length != count(offset, length)) {
            throw new IllegalArgumentException("%s bytes at %s have %s checksums instead of %s".formatted(length, offset, count(offset, length), values.length));
        }
        this.offset = offset;
        this.length = length;
        this.values = requireNonNull(values, "values is null");
    }

    /**
     * Returns the number of parts of a range.
     */
    public static int count(int offset, int length)
    {
        return length == 0 ? 0 : (offset + length - 1) / PIECE_BYTES - offset / PIECE_BYTES + 1;
    }

    /**
     * Returns the offset of the range in its block.
     */
    public int offset()
    {
        return offset;
    }

    /**
     * Returns the length of the range.
     */
    public int length()
    {
        return length;
    }

    /**
     * Returns the number of parts.
     */
    public int count()
    {
        return values.length;
    }

    public int value(int part)
    {
        return values[part];
    }

    /**
     * Returns the end of a part in the block.
     */
    int end(int part)
    {
        return Math.min(offset + length, (offset / PIECE_BYTES + part + 1) * PIECE_BYTES);
    }

    /**
     * Returns the CRC32C of the whole range.
     */
    public int whole()
    {
        int whole = 0;
        int start = offset;
        for (int part = 0; part < values.length; part++) {
            whole = Crc32c.combine(whole, values[part], end(part) - start);
            start = end(part);
        }
        return whole;
    }

    @Override
    public boolean equals(Object other)
    {
        return other instanceof PieceChecksums that && offset == that.offset && length == that.length && Arrays.equals(values, that.values);
    }

    @Override
    public int hashCode()
    {
        return 31 * (31 * offset + length) + Arrays.hashCode(values);
    }

    @Override
    public String toString()
    {
        return "%s bytes at %s: %s".formatted(length, offset, Arrays.toString(values));
    }
}
