package io.cachedhive.store.policy;

/**
 * Which part of the queues a block is in.
 */
public enum QueuePart
{
    /**
     * Where all begin.
     */
    WINDOW,
    /**
     * Won against another when it left the window, and was not used since.
     */
    MAIN,
    /**
     * Was used in the main part.
     */
    SHIELDED,
}
