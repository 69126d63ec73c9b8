package io.cachedhive.store.ram;

/**
 * A part of the frames' memory that is cut into frames of one size class at a time.
 */
final class RamSlab
{
    final int number;
    int sizeClass = -1;
    Frame[] frames = {};
    /**
     * Being emptied, so that it can be cut anew: no frame of it is in a list.
     */
    boolean draining;
    /**
     * What it is cut into then.
     */
    int nextSizeClass = -1;

    RamSlab(int number)
    {
        this.number = number;
    }
}
