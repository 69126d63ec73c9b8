package io.cachedhive.store.ssd;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.slab.SizeClassUses;
import io.cachedhive.store.slab.SizeClasses;

import java.util.ArrayDeque;
import java.util.Arrays;

import static java.util.Objects.requireNonNull;

/**
 * Allocates the extents of a directory's slabs. Guarded by the store's lock.
 *
 * <p>Each size class has slabs, and allocates their extents in order, so that a filling cache writes sequentially. When
 * all extents are in use, it removes expired blocks first, and then evicts a block chosen by the
 * {@link DirectoryPolicy}. If a size class is used much more than another, a slab of the other is drained, a few blocks
 * at a time, and changes its size class.
 */
final class ExtentAllocator
{
    private static final int DRAINED_AT_ONCE = 256;
    private static final int MAX_SLABS_COMPARED = 16;
    private static final int MAX_EXTENTS_COMPARED = 64;
    // a class with slabs of its own only uses slightly larger extents
    private static final int NEAR_CLASSES = 2;

    private final SizeClasses sizeClasses;
    private final DirectoryPolicy policy;
    private final Evictor evictor;
    private final SsdSlab[] slabs;
    private final SlabGroup[] groups;
    private final ArrayDeque<SsdSlab> freeSlabs = new ArrayDeque<>();
    private SsdSlab draining;
    private int drainedFor;
    private int drainHand;
    private boolean restoring;

    /**
     * Removes blocks from the index, which frees their extents.
     */
    interface Evictor
    {
        void evict(int entry);

        /**
         * Removes some expired blocks, if any.
         */
        void evictExpired();
    }

    /**
     * An extent allocated for a write.
     */
    record Place(SsdSlab slab, int extent) {}

    ExtentAllocator(SizeClasses sizeClasses, SsdSlab[] slabs, DirectoryPolicy policy, Evictor evictor)
    {
        this.sizeClasses = requireNonNull(sizeClasses, "sizeClasses is null");
        this.slabs = requireNonNull(slabs, "slabs is null");
        this.policy = requireNonNull(policy, "policy is null");
        this.evictor = requireNonNull(evictor, "evictor is null");
        this.groups = new SlabGroup[sizeClasses.count()];
        Arrays.setAll(groups, _ -> new SlabGroup());
    }

    /**
     * Adopts the restored slabs, before any block is added to the policy.
     *
     * @param restoring whether the second step of recovery follows, until {@link #settle}. Meanwhile, only extents
     *         known to be free or used are allocated, and no slab changes its size class.
     */
    void start(boolean restoring)
    {
        this.restoring = restoring;
        for (SsdSlab slab : slabs) {
            if (slab.sizeClass >= 0 && slab.isEmpty()) {
                slab.uncut();
            }
            if (slab.sizeClass == -1) {
                freeSlabs.add(slab);
            }
            else {
                take(slab);
            }
        }
    }

    private void take(SsdSlab slab)
    {
        groups[slab.sizeClass].add(slab);
        policy.addPlaces(slab.sizeClass, slab.extentCount());
    }

    /**
     * Settles some slabs at the end of the restore, and frees the empty ones among them.
     *
     * @return whether there are slabs after the range
     */
    boolean settle(int firstSlab, int endSlab)
    {
        for (int i = firstSlab; i < Math.min(endSlab, slabs.length); i++) {
            SsdSlab slab = slabs[i];
            slab.settle();
            if (slab.group() != null && slab.isEmpty()) {
                groups[slab.sizeClass].remove(slab);
                policy.removePlaces(slab.sizeClass, slab.extentCount());
                slab.uncut();
                freeSlabs.add(slab);
            }
        }
        return endSlab < slabs.length;
    }

    /**
     * Ends the restore, after all slabs are settled.
     */
    void endRestore()
    {
        restoring = false;
    }

    /**
     * Returns whether an extent is available without eviction.
     */
    boolean hasFree(int units)
    {
        return !freeSlabs.isEmpty() || groups[sizeClasses.classFor(units)].findFree() != null;
    }

    /**
     * Allocates an extent for a write. The caller then reports the outcome to the slab.
     *
     * @param mayGrow false if the number of blocks must not grow, so that another block has to be evicted even if there
     *         is space
     * @param newcomer class of the block, which cannot evict blocks of a higher class
     * @return null if no extent is available
     */
    Place allocate(int units, boolean mayGrow, BlockClass newcomer)
    {
        drain();
        int wanted = sizeClasses.classFor(units);
        Place place = mayGrow ? takeFree(wanted) : null;
        if (place != null) {
            return place;
        }
        evictor.evictExpired();
        place = mayGrow ? takeFree(wanted) : null;
        if (place != null) {
            return place;
        }
        if (!mayGrow && hasFree(units) && evictSmaller(wanted, newcomer)) {
            return takeFree(wanted);
        }
        moveSlabTo(wanted);
        place = evictOne(wanted, newcomer);
        // a larger extent is better than none
        int limit = groups[wanted].size() == 0 ? sizeClasses.count() : Math.min(sizeClasses.count(), wanted + 1 + NEAR_CLASSES);
        for (int i = wanted + 1; place == null && i < limit; i++) {
            place = mayGrow ? takeFree(i) : null;
            if (place == null) {
                place = evictOne(i, newcomer);
            }
        }
        return place;
    }

    private Place takeFree(int sizeClass)
    {
        SsdSlab slab = groups[sizeClass].findFree();
        if (slab == null) {
            slab = freeSlabs.poll();
            if (slab == null) {
                return null;
            }
            cut(slab, sizeClass);
        }
        return new Place(slab, slab.takeFree());
    }

    private void cut(SsdSlab slab, int sizeClass)
    {
        slab.cut(sizeClass, sizeClasses.piecesPerSlab(sizeClass));
        take(slab);
    }

    private Place evictOne(int sizeClass, BlockClass newcomer)
    {
        for (int evicted = 0; evicted < DRAINED_AT_ONCE; evicted++) {
            int entry = policy.pollVictim(sizeClass, newcomer);
            if (entry == EvictionPolicy.NO_ENTRY) {
                return null;
            }
            SsdSlab slab = policy.slab(entry);
            int extent = policy.extent(entry);
            evictor.evict(entry);
            // a slab being drained loses all its blocks anyway
            if (slab != draining) {
                slab.take(extent);
                return new Place(slab, extent);
            }
        }
        // the next call continues to drain it
        return null;
    }

    /**
     * Evicts a smaller block when checkpoint records rather than space are short, because it saves fewer bytes per
     * record.
     */
    private boolean evictSmaller(int sizeClass, BlockClass newcomer)
    {
        for (int i = 0; i < sizeClass; i++) {
            int entry = policy.pollVictim(i, newcomer);
            if (entry != EvictionPolicy.NO_ENTRY) {
                evictor.evict(entry);
                return true;
            }
        }
        return false;
    }

    /**
     * Starts to drain a slab of the least used size class, if the given class is used much more.
     */
    private void moveSlabTo(int recipient)
    {
        if (draining != null || restoring || !freeSlabs.isEmpty()) {
            return;
        }
        int donor = policy.donorFor(recipient);
        if (donor == SizeClassUses.NONE) {
            return;
        }
        SsdSlab slab = coldest(groups[donor]);
        if (slab == null) {
            return;
        }
        groups[donor].remove(slab);
        policy.removePlaces(donor, slab.extentCount());
        draining = slab;
        drainedFor = recipient;
        drainHand = 0;
        drain();
    }

    /**
     * @return null if no slab can be drained
     */
    private SsdSlab coldest(SlabGroup ofClass)
    {
        SsdSlab coldest = null;
        double lowest = Double.POSITIVE_INFINITY;
        int step = Math.max(1, ofClass.size() / MAX_SLABS_COMPARED);
        for (int i = 0; i < ofClass.size(); i += step) {
            SsdSlab slab = ofClass.get(i);
            if (slab.pinnedCount() > 0 || slab.isBeingWritten()) {
                continue;
            }
            double cost = cost(slab);
            if (cost < lowest) {
                coldest = slab;
                lowest = cost;
            }
        }
        return coldest;
    }

    private double cost(SsdSlab slab)
    {
        int step = Math.max(1, slab.extentCount() / MAX_EXTENTS_COMPARED);
        int compared = 0;
        int cost = 0;
        for (int extent = 0; extent < slab.extentCount(); extent += step) {
            int entry = slab.entry(extent);
            cost += entry >= 0 ? policy.cost(entry) : 0;
            compared++;
        }
        return (double) cost / compared;
    }

    private void drain()
    {
        if (draining == null) {
            return;
        }
        int evicted = 0;
        while (drainHand < draining.extentCount() && evicted < DRAINED_AT_ONCE) {
            int entry = draining.entry(drainHand);
            if (entry >= 0) {
                evictor.evict(entry);
                evicted++;
            }
            drainHand++;
        }
        if (drainHand >= draining.extentCount() && !draining.isBeingWritten()) {
            SsdSlab empty = draining;
            draining = null;
            empty.uncut();
            cut(empty, drainedFor);
        }
    }
}
