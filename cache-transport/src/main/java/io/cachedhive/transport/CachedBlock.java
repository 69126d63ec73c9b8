package io.cachedhive.transport;

import static java.util.Objects.requireNonNull;

/**
 * A verified copy of a block.
 *
 * @param position of its first byte, in bytes from the start of the file
 * @param bytes the caller's own
 */
public record CachedBlock(long position, byte[] bytes)
{
    public CachedBlock
    {
        requireNonNull(bytes, "bytes is null");
    }
}
