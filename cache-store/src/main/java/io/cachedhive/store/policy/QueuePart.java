package io.cachedhive.store.policy;

/**
 * A part of the queues.
 */
public enum QueuePart
{
    /**
     * New blocks.
     */
    WINDOW,
    /**
     * Blocks that won the competition when they left the window, and were not used since.
     */
    MAIN,
    /**
     * Blocks that were used in the main part.
     */
    SHIELDED,
}
