package io.cachedhive.store.block;

/**
 * The priority of a block. Eviction chooses a block of a class only if there is none of a lower class.
 */
public enum BlockClass
{
    /**
     * A block of another worker, in RAM only.
     */
    GUEST,
    NORMAL,
    HIGH,
    /**
     * Never evicted for lack of space.
     */
    PINNED,
}
