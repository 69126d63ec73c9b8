package io.cachedhive.store.ram;

/**
 * A part of the frames' memory, cut into frames of one size class at a time.
 */
final class RamSlab
{
    final int number;
    int sizeClass = -1;
    Frame[] frames = {};
    /**
     * Whether the slab is being emptied to change its size class; its frames are in no list.
     */
    boolean draining;
    /**
     * The size class after draining.
     */
    int nextSizeClass = -1;

    RamSlab(int number)
    {
        this.number = number;
    }
}
