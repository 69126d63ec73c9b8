package io.cachedhive.store.slab;

import static java.util.Objects.checkIndex;

/**
 * The sizes into which slabs are cut, counted in units of 4 KiB. From the largest down, each is the smallest that loses at most a fifth against
 * the one before it (so that a block fills at least four fifths of its place, but for the rounding to a unit), and rounded up
 * to what the slab can be cut into without waste: with a slab of four of the largest, the next are a fifth, a sixth, a seventh of it.
 */
public final class SizeClasses
{
    private final int unitsPerSlab;
    // ascending
    private final int[] units;
    private final byte[] classByUnits;

    private SizeClasses(int unitsPerSlab, int[] units)
    {
        this.unitsPerSlab = unitsPerSlab;
        this.units = units;
        int largest = units[units.length - 1];
        this.classByUnits = new byte[largest + 1];
        int index = 0;
        for (int i = 0; i <= largest; i++) {
            if (i > units[index]) {
                index++;
            }
            classByUnits[i] = (byte) index;
        }
    }

    /**
     * @param unitsPerSlab at least four times the largest
     */
    public static SizeClasses create(int unitsPerSlab, int largestUnits)
    {
        if (largestUnits < 1 || unitsPerSlab < 4 * largestUnits) {
            throw new IllegalArgumentException("slab of %s units is not at least four times %s units".formatted(unitsPerSlab, largestUnits));
        }
        int[] descending = new int[128];
        int count = 0;
        int size = largestUnits;
        while (true) {
            descending[count] = size;
            count++;
            if (size == 1) {
                break;
            }
            // the most pieces that are still not smaller than four fifths of the last size
            int smallest = Math.ceilDiv(4 * size, 5);
            int pieces = Math.max(unitsPerSlab / smallest, unitsPerSlab / size + 1);
            size = Math.min(unitsPerSlab / pieces, size - 1);
        }
        int[] ascending = new int[count];
        for (int i = 0; i < count; i++) {
            ascending[i] = descending[count - 1 - i];
        }
        return new SizeClasses(unitsPerSlab, ascending);
    }

    public int count()
    {
        return units.length;
    }

    /**
     * @param index 0 is the smallest
     */
    public int units(int index)
    {
        return units[checkIndex(index, units.length)];
    }

    public int piecesPerSlab(int index)
    {
        return unitsPerSlab / units(index);
    }

    /**
     * The smallest class that holds so many units.
     */
    public int classFor(int units)
    {
        return classByUnits[units];
    }
}
