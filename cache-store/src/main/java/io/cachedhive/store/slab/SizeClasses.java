package io.cachedhive.store.slab;

import static java.util.Objects.checkIndex;

/**
 * The sizes into which slabs are cut, in units of 4 KiB. In descending order, each size is at least four fifths of the
 * previous one. So a block fills at least four fifths of its place, except for rounding to a unit. Each size is rounded
 * up so that it divides the slab without waste: if a slab is four times the largest size, the next sizes are a fifth, a
 * sixth and a seventh of it.
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
     * @param unitsPerSlab at least four times the largest size
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
            // as many pieces as possible, each at least four fifths of the last size
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
     * Returns the smallest class with at least the given number of units.
     */
    public int classFor(int units)
    {
        return classByUnits[units];
    }
}
