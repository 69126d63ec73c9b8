package io.cachedhive.store;

/**
 * The tier in which the store found a block.
 */
public enum BlockOrigin
{
    RAM,
    /**
     * Found on SSD, and now in a frame.
     */
    SSD,
}
