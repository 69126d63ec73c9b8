package io.cachedhive.store.ssd;

import io.cachedhive.store.slab.SizeClasses;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Gives out the extents of a directory's slabs. Guarded by the store's lock.
 *
 * <p>Each size class has slabs; its extents are taken in the order of their places, so that a filling cache writes sequentially. When all are in use, a
 * hand goes over them in the same order: blocks that were used since it last passed lose one of their chances, the first one without
 * leaves (CLOCK; Corbató, "A paging experiment with the Multics system", 1968, with counters in place of the bit). Where blocks leave
 * soonest, slabs are short: now and then the class with the most pressure takes one from the class with the least.
 */
final class ExtentAllocator
{
    private static final int MAX_STEPS = 10_000;
    private static final int DRAINED_AT_ONCE = 256;

    private final SizeClasses sizeClasses;
    private final Evictor evictor;
    private final SsdSlab[] slabs;
    private final List<ClassState> classes = new ArrayList<>();
    private final ArrayDeque<SsdSlab> freeSlabs = new ArrayDeque<>();
    private SsdSlab draining;
    private int drainHand;
    private long evictedUnits;
    private boolean restoring;

    /**
     * What the allocator needs to know of blocks.
     */
    interface Evictor
    {
        /**
         * @param entry in the index
         */
        int frequency(int entry);

        void setFrequency(int entry, int frequency);

        /**
         * Removes the block from the index and frees its extent.
         */
        void evict(int entry);
    }

    private static final class ClassState
    {
        final int index;
        final List<SsdSlab> slabs = new ArrayList<>();
        int handSlab;
        int handExtent;
        long evictedUnits;

        ClassState(int index)
        {
            this.index = index;
        }
    }

    /**
     * An extent that was given out for writing.
     */
    record Place(SsdSlab slab, int extent) {}

    ExtentAllocator(SizeClasses sizeClasses, SsdSlab[] slabs, Evictor evictor)
    {
        this.sizeClasses = requireNonNull(sizeClasses, "sizeClasses is null");
        this.evictor = requireNonNull(evictor, "evictor is null");
        this.slabs = requireNonNull(slabs, "slabs is null");
        for (int i = 0; i < sizeClasses.count(); i++) {
            classes.add(new ClassState(i));
        }
    }

    /**
     * Takes the slabs as they were restored.
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
                classes.get(slab.sizeClass).slabs.add(slab);
            }
        }
    }

    /**
     * Everything is restored, and all slabs are settled.
     */
    void settle()
    {
        restoring = false;
        for (ClassState state : classes) {
            for (SsdSlab slab : List.copyOf(state.slabs)) {
                if (slab.isEmpty()) {
                    state.slabs.remove(slab);
                    slab.uncut();
                    freeSlabs.add(slab);
                }
            }
            state.handSlab = 0;
            state.handExtent = 0;
        }
    }

    /**
     * An extent to be written; its fate is told to the slab.
     *
     * @param mayGrow whether there may be one block more; if not, one of the class has to leave even if there is room
     * @return null if there is none to be had now
     */
    Place allocate(int units, boolean mayGrow)
    {
        drain();
        int wanted = sizeClasses.classFor(units);
        ClassState state = classes.get(wanted);
        Place place = mayGrow ? takeFree(state) : null;
        if (place == null) {
            place = evictOne(state);
        }
        if (place == null && state.slabs.isEmpty()) {
            takeSlabFor(state);
            // until the slab is there, a larger extent will do
            for (int i = wanted + 1; place == null && i < classes.size(); i++) {
                place = mayGrow ? takeFree(classes.get(i)) : null;
                if (place == null) {
                    place = evictOne(classes.get(i));
                }
            }
        }
        return place;
    }

    private Place takeFree(ClassState state)
    {
        // the slab that was cut last is the one with room, unless blocks were dropped
        for (int i = state.slabs.size() - 1; i >= 0; i--) {
            SsdSlab slab = state.slabs.get(i);
            if (slab.freeCount() > 0) {
                return new Place(slab, slab.takeFree());
            }
        }
        SsdSlab slab = freeSlabs.poll();
        if (slab == null) {
            return null;
        }
        slab.cut(state.index, sizeClasses.piecesPerSlab(state.index));
        state.slabs.add(slab);
        return new Place(slab, slab.takeFree());
    }

    private Place evictOne(ClassState state)
    {
        if (state.slabs.isEmpty()) {
            return null;
        }
        long extents = (long) state.slabs.size() * sizeClasses.piecesPerSlab(state.index);
        // after the last round everything has lost its chances, or is being written
        // (while blocks are restored, there may be nothing else yet, and no reason to look everywhere)
        long limit = restoring ? MAX_STEPS : Math.min(MAX_STEPS, 4 * extents) + extents;
        for (long step = 0; step < limit; step++) {
            if (state.handSlab >= state.slabs.size()) {
                state.handSlab = 0;
            }
            SsdSlab slab = state.slabs.get(state.handSlab);
            if (state.handExtent >= slab.extentCount()) {
                state.handExtent = 0;
                state.handSlab++;
                continue;
            }
            int extent = state.handExtent;
            state.handExtent++;
            int entry = slab.entry(extent);
            if (entry < 0) {
                continue;
            }
            int frequency = evictor.frequency(entry);
            if (frequency > 0 && step < MAX_STEPS) {
                evictor.setFrequency(entry, frequency - 1);
                continue;
            }
            evictor.evict(entry);
            slab.take(extent);
            int units = sizeClasses.units(state.index);
            state.evictedUnits += units;
            evictedUnits += units;
            balance();
            return new Place(slab, extent);
        }
        return null;
    }

    /**
     * Once an eighth of the capacity has gone through, compares the classes.
     */
    private void balance()
    {
        long total = 0;
        for (ClassState state : classes) {
            total += (long) state.slabs.size() * sizeClasses.piecesPerSlab(state.index) * sizeClasses.units(state.index);
        }
        if (restoring || evictedUnits < total / 8) {
            return;
        }
        ClassState most = null;
        for (ClassState state : classes) {
            if (!state.slabs.isEmpty() && (most == null || pressure(state) > pressure(most))) {
                most = state;
            }
        }
        if (most != null && draining == null) {
            ClassState least = leastPressed(most);
            if (least != null && pressure(most) > 2 * pressure(least)) {
                beginDraining(least);
            }
        }
        evictedUnits = 0;
        for (ClassState state : classes) {
            state.evictedUnits = 0;
        }
    }

    private static double pressure(ClassState state)
    {
        return (double) state.evictedUnits / state.slabs.size();
    }

    private ClassState leastPressed(ClassState except)
    {
        ClassState least = null;
        for (ClassState state : classes) {
            if (state != except && !state.slabs.isEmpty()) {
                boolean better = least == null
                        || pressure(state) < pressure(least)
                        || (pressure(state) == pressure(least) && state.slabs.size() > least.slabs.size());
                if (better) {
                    least = state;
                }
            }
        }
        return least;
    }

    private void takeSlabFor(ClassState state)
    {
        if (draining == null && freeSlabs.isEmpty() && !restoring) {
            ClassState least = leastPressed(state);
            if (least != null) {
                beginDraining(least);
            }
        }
    }

    /**
     * Takes the slab that the hand comes to next: its blocks are the oldest.
     */
    private void beginDraining(ClassState state)
    {
        int index = state.handSlab >= state.slabs.size() ? 0 : state.handSlab;
        if (state.handExtent > 0 && index + 1 < state.slabs.size()) {
            index++;
        }
        draining = state.slabs.remove(index);
        drainHand = 0;
        if (state.handSlab > index) {
            state.handSlab--;
        }
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
        if (drainHand >= draining.extentCount()) {
            if (draining.isEmpty()) {
                draining.uncut();
                freeSlabs.add(draining);
                draining = null;
            }
            else {
                // something was being written
                drainHand = 0;
            }
        }
    }
}
