package io.cachedhive.store;

/**
 * Cached bytes of a set of files to pin.
 *
 * @param cachedBytes bytes of their blocks, including guests
 * @param pinnedBytes bytes of their pinned blocks; the rest exceeds the limit on pinned bytes or is guests
 */
public record PinUsage(long cachedBytes, long pinnedBytes)
{
    public PinUsage add(PinUsage other)
    {
        return new PinUsage(cachedBytes + other.cachedBytes, pinnedBytes + other.pinnedBytes);
    }
}
