package io.cachedhive.store.ssd;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.policy.EvictionPolicy;
import io.cachedhive.store.slab.SizeClassUses;
import io.cachedhive.store.slab.SizeClasses;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Gives out the extents of a directory's slabs. Guarded by the store's lock.
 *
 * <p>Each size class has slabs; its extents are taken in the order of their places, so that a filling cache writes sequentially. When all are in use,
 * those of expired blocks are looked for, and then the {@link DirectoryPolicy} tells which block leaves. Where extents are used much more than those of
 * another size class, a slab of that one is emptied, some blocks at a time, and cut anew.
 */
final class ExtentAllocator
{
    private static final int DRAINED_AT_ONCE = 256;
    private static final int MAX_SLABS_COMPARED = 16;
    private static final int MAX_EXTENTS_COMPARED = 64;
    // a class that has extents of its own takes larger ones only if they are not much larger
    private static final int NEAR_CLASSES = 2;

    private final SizeClasses sizeClasses;
    private final DirectoryPolicy policy;
    private final Evictor evictor;
    private final SsdSlab[] slabs;
    private final List<List<SsdSlab>> slabsByClass = new ArrayList<>();
    private final ArrayDeque<SsdSlab> freeSlabs = new ArrayDeque<>();
    private SsdSlab draining;
    private int drainedFor;
    private int drainHand;
    private boolean restoring;

    /**
     * Takes blocks out of the index, so that their extents are free.
     */
    interface Evictor
    {
        void evict(int entry);

        /**
         * Takes some of the expired ones out, if there are any.
         */
        void evictExpired();
    }

    /**
     * An extent that was given out for writing.
     */
    record Place(SsdSlab slab, int extent) {}

    ExtentAllocator(SizeClasses sizeClasses, SsdSlab[] slabs, DirectoryPolicy policy, Evictor evictor)
    {
        this.sizeClasses = requireNonNull(sizeClasses, "sizeClasses is null");
        this.slabs = requireNonNull(slabs, "slabs is null");
        this.policy = requireNonNull(policy, "policy is null");
        this.evictor = requireNonNull(evictor, "evictor is null");
        for (int i = 0; i < sizeClasses.count(); i++) {
            slabsByClass.add(new ArrayList<>());
        }
    }

    /**
     * Takes the slabs as they were restored, before any block is told to the policy.
     *
     * @param restoring whether there is more to come, until {@link #settle}: of slabs in use only what is known to be free, or to hold a
     *         block, is given out, and none is given to another class
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
        slabsByClass.get(slab.sizeClass).add(slab);
        policy.addPlaces(slab.sizeClass, slab.extentCount());
    }

    /**
     * Everything is restored, and all slabs are settled.
     */
    void settle()
    {
        restoring = false;
        for (List<SsdSlab> ofClass : slabsByClass) {
            for (SsdSlab slab : List.copyOf(ofClass)) {
                if (slab.isEmpty()) {
                    ofClass.remove(slab);
                    policy.removePlaces(slab.sizeClass, slab.extentCount());
                    slab.uncut();
                    freeSlabs.add(slab);
                }
            }
        }
    }

    /**
     * Whether there is an extent that nobody has to leave.
     */
    boolean hasFree(int units)
    {
        if (!freeSlabs.isEmpty()) {
            return true;
        }
        for (SsdSlab slab : slabsByClass.get(sizeClasses.classFor(units))) {
            if (slab.freeCount() > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * An extent to be written; its fate is told to the slab.
     *
     * @param mayGrow whether there may be one block more; if not, one of the class has to leave even if there is room
     * @param newcomer the class of the block: none of a higher one leaves for it
     * @return null if there is none to be had now
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
        // better an extent that is too large than none
        int limit = slabsByClass.get(wanted).isEmpty() ? sizeClasses.count() : Math.min(sizeClasses.count(), wanted + 1 + NEAR_CLASSES);
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
        List<SsdSlab> ofClass = slabsByClass.get(sizeClass);
        // the slab that was cut last is the one with room, unless blocks were dropped
        for (int i = ofClass.size() - 1; i >= 0; i--) {
            SsdSlab slab = ofClass.get(i);
            if (slab.freeCount() > 0) {
                return new Place(slab, slab.takeFree());
            }
        }
        SsdSlab slab = freeSlabs.poll();
        if (slab == null) {
            return null;
        }
        cut(slab, sizeClass);
        return new Place(slab, slab.takeFree());
    }

    private void cut(SsdSlab slab, int sizeClass)
    {
        slab.cut(sizeClass, sizeClasses.piecesPerSlab(sizeClass));
        take(slab);
    }

    private Place evictOne(int sizeClass, BlockClass newcomer)
    {
        while (true) {
            int entry = policy.pollVictim(sizeClass, newcomer);
            if (entry == EvictionPolicy.NO_ENTRY) {
                return null;
            }
            SsdSlab slab = policy.slab(entry);
            int extent = policy.extent(entry);
            evictor.evict(entry);
            // those of a slab that is being emptied have to leave anyway
            if (slab != draining) {
                slab.take(extent);
                return new Place(slab, extent);
            }
        }
    }

    /**
     * Where it is not room that is short, but records in a checkpoint, smaller blocks leave first: theirs save less for as much.
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
     * Begins to empty a slab of the class that makes least of its extents, if that is much less than what this class makes of its.
     */
    private void moveSlabTo(int taker)
    {
        if (draining != null || restoring || !freeSlabs.isEmpty()) {
            return;
        }
        int giver = policy.giverFor(taker);
        if (giver == SizeClassUses.NONE) {
            return;
        }
        SsdSlab slab = coldest(slabsByClass.get(giver));
        if (slab == null) {
            return;
        }
        slabsByClass.get(giver).remove(slab);
        policy.removePlaces(giver, slab.extentCount());
        draining = slab;
        drainedFor = taker;
        drainHand = 0;
        drain();
    }

    /**
     * @return null if there is none that may be emptied
     */
    private SsdSlab coldest(List<SsdSlab> ofClass)
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
        if (drainHand >= draining.extentCount() && draining.unwipedCount() > 0) {
            // nobody knows when it can be overwritten: it goes on in its class, and another one is emptied if need be
            take(draining);
            draining = null;
            return;
        }
        // an extent may still be overwritten whose block was flushed
        if (drainHand >= draining.extentCount() && !draining.isBeingWritten()) {
            SsdSlab empty = draining;
            draining = null;
            empty.uncut();
            cut(empty, drainedFor);
        }
    }
}
