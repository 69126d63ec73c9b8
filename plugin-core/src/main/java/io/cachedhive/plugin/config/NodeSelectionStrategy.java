package io.cachedhive.plugin.config;

/**
 * How a split finds the node that reads it.
 */
public enum NodeSelectionStrategy
{
    /**
     * The owner's node is preferred.
     */
    SOFT_AFFINITY,
    /**
     * The owner's node, always, for as long as it is an active worker.
     */
    HARD_AFFINITY,
    /**
     * Any node. Reads still go to the owners.
     */
    NO_PREFERENCE,
}
