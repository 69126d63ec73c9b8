package io.cachedhive.store.policy;

/**
 * The properties of entries that a policy needs.
 */
public interface PolicyEntries
{
    /**
     * Returns the first half of the block's digest.
     */
    long digestHigh(int entry);

    long digestLow(int entry);

    /**
     * Returns whether the block is in use, so that it cannot be evicted.
     */
    boolean isPinned(int entry);
}
