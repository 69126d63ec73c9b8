package io.cachedhive.store.policy;

/**
 * What a policy needs to know of the entries that it orders.
 */
public interface PolicyEntries
{
    /**
     * The first half of the block's digest.
     */
    long digestHigh(int entry);

    long digestLow(int entry);

    /**
     * Whether somebody uses the block's bytes: it is passed over then.
     */
    boolean isPinned(int entry);
}
