package io.cachedhive.store.ssd;

import java.util.Arrays;

import static com.google.common.base.Verify.verify;

/**
 * A slab and what lies in its extents. Guarded by the store's lock.
 */
final class SsdSlab
{
    static final int FREE = -1;
    static final int WRITING = -2;
    static final int UNKNOWN = -3;
    static final int UNWIPED = -4;
    static final int NONE = -1;

    final int number;
    int sizeClass = -1;
    // of each extent: the number of its entry in the index, FREE, WRITING, UNKNOWN while the checkpoint may still tell of a block there, or UNWIPED, out of use
    // since it has bytes that are to be overwritten, and could not be yet
    private int[] entries = {};
    private int freeCount;
    private int unknownCount;
    private int cursor;
    // those that are unwiped as well
    private int writing;
    private int unwipedCount;
    private int pinnedCount;

    SsdSlab(int number)
    {
        this.number = number;
    }

    void cut(int sizeClass, int extentCount)
    {
        verify(freeCount + unknownCount == entries.length, "slab %s is in use", number);
        this.sizeClass = sizeClass;
        entries = new int[extentCount];
        Arrays.fill(entries, FREE);
        freeCount = extentCount;
        unknownCount = 0;
        cursor = 0;
    }

    /**
     * Cut as a checkpoint says, of which the blocks are not read yet.
     */
    void cutUnknown(int sizeClass, int extentCount)
    {
        cut(sizeClass, extentCount);
        Arrays.fill(entries, UNKNOWN);
        freeCount = 0;
        unknownCount = extentCount;
    }

    /**
     * What no block was found for is free.
     */
    void settle()
    {
        for (int i = 0; unknownCount > 0; i++) {
            if (entries[i] == UNKNOWN) {
                entries[i] = FREE;
                unknownCount--;
                freeCount++;
            }
        }
    }

    void uncut()
    {
        verify(isEmpty(), "slab %s is in use", number);
        sizeClass = -1;
        entries = new int[0];
        freeCount = 0;
    }

    int extentCount()
    {
        return entries.length;
    }

    int freeCount()
    {
        return freeCount;
    }

    boolean isEmpty()
    {
        return freeCount == entries.length;
    }

    boolean isBeingWritten()
    {
        return writing > 0;
    }

    /**
     * Of the blocks in it, those that do not leave for want of space.
     */
    int pinnedCount()
    {
        return pinnedCount;
    }

    void countPinned(int change)
    {
        pinnedCount += change;
    }

    int entry(int extent)
    {
        return entries[extent];
    }

    /**
     * Takes the next free extent, in the order of their places if nothing was freed in between.
     */
    int takeFree()
    {
        verify(freeCount > 0, "slab %s has no free extent", number);
        while (entries[cursor] != FREE) {
            cursor = cursor + 1 == entries.length ? 0 : cursor + 1;
        }
        int extent = cursor;
        cursor = cursor + 1 == entries.length ? 0 : cursor + 1;
        entries[extent] = WRITING;
        writing++;
        freeCount--;
        return extent;
    }

    /**
     * Takes an extent whose block was just removed.
     */
    void take(int extent)
    {
        verify(entries[extent] == FREE, "extent %s of slab %s is in use", extent, number);
        entries[extent] = WRITING;
        writing++;
        freeCount--;
    }

    /**
     * @param entry its entry in the index, or {@link #FREE}
     */
    void written(int extent, int entry)
    {
        verify(entries[extent] == WRITING, "extent %s of slab %s is not being written", extent, number);
        entries[extent] = entry;
        writing--;
        if (entry == FREE) {
            freeCount++;
        }
    }

    /**
     * An extent that was being written goes out of use until it is {@link #wiped}: nobody may have it, and the slab keeps its class.
     */
    void keepUnwiped(int extent)
    {
        verify(entries[extent] == WRITING, "extent %s of slab %s is not being written", extent, number);
        entries[extent] = UNWIPED;
        unwipedCount++;
    }

    /**
     * It is overwritten, and free.
     */
    void wiped(int extent)
    {
        verify(entries[extent] == UNWIPED, "extent %s of slab %s is not out of use", extent, number);
        entries[extent] = FREE;
        unwipedCount--;
        writing--;
        freeCount++;
    }

    int unwipedCount()
    {
        return unwipedCount;
    }

    /**
     * The first extent from there on that is out of use, or {@link #NONE}.
     */
    int nextUnwiped(int firstExtent)
    {
        for (int extent = firstExtent; unwipedCount > 0 && extent < entries.length; extent++) {
            if (entries[extent] == UNWIPED) {
                return extent;
            }
        }
        return NONE;
    }

    /**
     * An extent that was found with a block when the store was opened.
     */
    void restore(int extent, int entry)
    {
        verify(entries[extent] == FREE || entries[extent] == UNKNOWN, "extent %s of slab %s is in use", extent, number);
        if (entries[extent] == UNKNOWN) {
            unknownCount--;
        }
        else {
            freeCount--;
        }
        entries[extent] = entry;
    }

    void free(int extent)
    {
        verify(entries[extent] >= 0, "extent %s of slab %s has no block", extent, number);
        entries[extent] = FREE;
        freeCount++;
    }
}
