package io.cachedhive.client;

import static java.util.Objects.requireNonNull;

/**
 * Where a reader wants a range of a file.
 *
 * @param position in the file, of the byte that belongs at the offset
 * @param tail whether the range is the end of the file, wherever the origin has it
 */
record ReadTarget(long position, byte[] buffer, int offset, boolean tail)
{
    ReadTarget
    {
        requireNonNull(buffer, "buffer is null");
    }

    /**
     * Where the byte at a position in the file belongs.
     */
    int index(long start)
    {
        return offset + (int) (start - position);
    }
}
