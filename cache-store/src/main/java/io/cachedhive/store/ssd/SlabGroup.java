package io.cachedhive.store.ssd;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The slabs of one size class, and those among them with free extents. Each call takes constant time, because a large
 * directory has tens of thousands of slabs. Guarded by the store's lock.
 */
final class SlabGroup
{
    private final List<SsdSlab> slabs = new ArrayList<>();
    // may also have slabs that are full or left the group since
    private final ArrayDeque<SsdSlab> withFree = new ArrayDeque<>();

    int size()
    {
        return slabs.size();
    }

    SsdSlab get(int index)
    {
        return slabs.get(index);
    }

    void add(SsdSlab slab)
    {
        slab.join(this, slabs.size());
        slabs.add(slab);
        if (slab.freeCount() > 0) {
            addFree(slab);
        }
    }

    /**
     * Removes a slab; the last slab takes its index.
     */
    void remove(SsdSlab slab)
    {
        SsdSlab last = slabs.removeLast();
        if (last != slab) {
            slabs.set(slab.indexInGroup(), last);
            last.join(this, slab.indexInGroup());
        }
        slab.leave();
    }

    /**
     * Adds a slab of the group whose first extent became free.
     */
    void addFree(SsdSlab slab)
    {
        if (!slab.isListed()) {
            slab.setListed(true);
            withFree.addLast(slab);
        }
    }

    /**
     * Returns a slab with a free extent.
     *
     * @return null if there is none
     */
    SsdSlab findFree()
    {
        while (!withFree.isEmpty()) {
            SsdSlab slab = withFree.peekLast();
            if (slab.group() != this) {
                withFree.removeLast();
            }
            else if (slab.freeCount() == 0) {
                withFree.removeLast();
                slab.setListed(false);
            }
            else {
                return slab;
            }
        }
        return null;
    }
}
