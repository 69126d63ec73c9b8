package io.cachedhive.store;

/**
 * What there is of some files that are to be pinned.
 *
 * @param cachedBytes bytes of their blocks, guests among them
 * @param pinnedBytes bytes of those that are pinned: others found no room among the pinned ones, or are guests
 */
public record PinUsage(long cachedBytes, long pinnedBytes)
{
    public PinUsage add(PinUsage other)
    {
        return new PinUsage(cachedBytes + other.cachedBytes, pinnedBytes + other.pinnedBytes);
    }
}
