package io.cachedhive.store;

/**
 * The tier in which the store found a block.
 */
public enum BlockOrigin
{
    RAM,
    /**
     * On SSD; it is in a frame now.
     */
    SSD,
}
