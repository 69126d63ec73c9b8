package io.cachedhive.store.ram;

/**
 * Decides which block of a size class leaves. Guarded by the store's lock.
 */
interface EvictionPolicy
{
    /**
     * A block came.
     */
    void add(Frame frame);

    /**
     * A block was asked for.
     */
    void use(Frame frame);

    /**
     * A block left for another reason than that it was the victim.
     */
    void remove(Frame frame);

    /**
     * Removes and gives the block to evict. Pinned ones are passed over.
     *
     * @return null if there is none
     */
    Frame pollVictim();

    /**
     * The block that is about to be the victim, for comparing classes with one another; null if there are no blocks.
     */
    Frame peek();
}
