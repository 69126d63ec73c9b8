package io.cachedhive.store.ssd;

import java.util.Arrays;

import static com.google.common.base.Verify.verify;

/**
 * A slab and the state of its extents. Guarded by the store's lock.
 */
final class SsdSlab
{
    static final int FREE = -1;
    static final int WRITING = -2;
    static final int UNKNOWN = -3;

    final int number;
    int sizeClass = -1;
    // state by extent: the number of its index entry, FREE, WRITING, or UNKNOWN (the checkpoint may have a block there)
    private int[] entries = {};
    private int freeCount;
    private int unknownCount;
    private int cursor;
    private int writing;
    private int pinnedCount;
    // null while the slab has no size class, is being drained, or is not allocated from yet
    private SlabGroup group;
    private int indexInGroup;
    // whether the group has it among the slabs with free extents
    private boolean listed;

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
     * Cuts the slab as in a checkpoint whose blocks are not read yet.
     */
    void cutUnknown(int sizeClass, int extentCount)
    {
        cut(sizeClass, extentCount);
        Arrays.fill(entries, UNKNOWN);
        freeCount = 0;
        unknownCount = extentCount;
    }

    /**
     * Frees the unknown extents, because the checkpoint has no blocks for them.
     */
    void settle()
    {
        int freed = unknownCount;
        for (int i = 0; unknownCount > 0; i++) {
            if (entries[i] == UNKNOWN) {
                entries[i] = FREE;
                unknownCount--;
            }
        }
        countFree(freed);
    }

    void uncut()
    {
        verify(isEmpty(), "slab %s is in use", number);
        sizeClass = -1;
        entries = new int[0];
        freeCount = 0;
    }

    void join(SlabGroup group, int index)
    {
        if (this.group != group) {
            this.group = group;
            listed = false;
        }
        indexInGroup = index;
    }

    void leave()
    {
        group = null;
    }

    SlabGroup group()
    {
        return group;
    }

    int indexInGroup()
    {
        return indexInGroup;
    }

    boolean isListed()
    {
        return listed;
    }

    void setListed(boolean listed)
    {
        this.listed = listed;
    }

    private void countFree(int count)
    {
        freeCount += count;
        if (group != null && count > 0) {
            group.addFree(this);
        }
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
     * Returns the number of blocks that cannot be evicted.
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
     * Takes the next free extent, in ascending order unless extents were freed in between.
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
            countFree(1);
        }
    }

    /**
     * Assigns an extent to a restored block.
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
        countFree(1);
    }
}
