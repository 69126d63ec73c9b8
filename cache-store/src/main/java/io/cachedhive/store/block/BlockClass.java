package io.cachedhive.store.block;

/**
 * How much a block is worth keeping. Blocks leave for want of space in this order: one of a class leaves only if there is none of a lower class.
 */
public enum BlockClass
{
    /**
     * A block of another worker's, kept in RAM only.
     */
    GUEST,
    NORMAL,
    HIGH,
    /**
     * Does not leave for want of space at all.
     */
    PINNED,
}
