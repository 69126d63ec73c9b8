package io.cachedhive.store.ram;

import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.ram.Frame.State;
import io.cachedhive.store.slab.SizeClassUses;
import io.cachedhive.store.slab.SizeClasses;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * Assigns slabs to size classes. A slab is drained before it changes its class: its blocks are evicted, and their
 * frames rest. The number of slabs grows with the allocated memory. Guarded by the store's lock.
 */
final class RamSlabs
{
    private static final int DRAINING_SHARE = 32;
    private static final int MAX_SLABS_COMPARED = 64;
    private static final long MUST_STAY = 1L << 40;

    private final RamFrames frames;
    private final MemoryLayout layout;
    private final SizeClasses sizeClasses;
    private final ArrayDeque<RamSlab> freeSlabs = new ArrayDeque<>();
    private final List<RamSlab> draining = new ArrayList<>();
    private final SizeClassUses uses;
    // changed under the lock
    private volatile int count;

    RamSlabs(RamFrames frames, MemoryLayout layout)
    {
        this.frames = requireNonNull(frames, "frames is null");
        this.layout = requireNonNull(layout, "layout is null");
        this.sizeClasses = frames.sizeClasses();
        this.uses = new SizeClassUses(sizeClasses.count());
    }

    /**
     * Adds the slabs that were allocated since the last call.
     *
     * @param newCount number of allocated slabs
     */
    void grow(int newCount)
    {
        verify(newCount >= count && newCount <= layout.slabCount(), "%s of %s slabs after %s", newCount, layout.slabCount(), count);
        for (int i = count; i < newCount; i++) {
            freeSlabs.add(new RamSlab(i));
        }
        count = newCount;
    }

    /**
     * Returns the total size of the slabs. Needs no lock.
     */
    long bytes()
    {
        return count * layout.slabBytes();
    }

    /**
     * Returns the number of slabs without a class.
     */
    int freeCount()
    {
        return freeSlabs.size();
    }

    /**
     * Records a request for a frame of a class. If the class has no free frame, assigns a free slab to it.
     */
    void request(RamClass ramClass)
    {
        uses.request();
        if (ramClass.free.isEmpty() && !freeSlabs.isEmpty()) {
            cut(freeSlabs.remove(), ramClass);
        }
    }

    private void cut(RamSlab slab, RamClass ramClass)
    {
        verify(slab.sizeClass == -1, "slab %s is in use", slab.number);
        int units = sizeClasses.units(ramClass.index);
        int firstUnit = slab.number * layout.unitsPerSlab();
        slab.sizeClass = ramClass.index;
        slab.frames = new Frame[sizeClasses.piecesPerSlab(ramClass.index)];
        for (int i = 0; i < slab.frames.length; i++) {
            slab.frames[i] = new Frame(firstUnit + i * units, slab, frames.nextEntry());
            frames.put(slab.frames[i]);
            ramClass.free.addLast(slab.frames[i]);
        }
        ramClass.slabs.add(slab);
        uses.addPlaces(ramClass.index, slab.frames.length);
        ramClass.frameCount += slab.frames.length;
        ramClass.policy.setCapacity(ramClass.frameCount);
        frames.sketch().setEntryCount(uses.placeCount());
    }

    /**
     * Starts to move a slab from the least used class, if the given class is used much more.
     */
    void moveSlab(RamClass recipient, long now)
    {
        if (draining.size() >= Math.max(1, count / DRAINING_SHARE)) {
            return;
        }
        int found = uses.donorFor(recipient.index);
        if (found == SizeClassUses.NONE) {
            return;
        }
        RamClass donor = frames.classes().get(found);
        RamSlab slab = coldest(donor);
        if (slab == null) {
            return;
        }
        donor.slabs.remove(slab);
        uses.removePlaces(donor.index, slab.frames.length);
        donor.frameCount -= slab.frames.length;
        donor.policy.setCapacity(donor.frameCount);
        slab.draining = true;
        slab.nextSizeClass = recipient.index;
        draining.add(slab);
        for (Frame frame : slab.frames) {
            switch (frame.state) {
                case LIVE -> {
                    donor.policy.remove(frame.entry);
                    frames.rest(frame, now);
                }
                case RESTING -> frame.list.remove(frame);
                case FREE -> donor.free.remove(frame);
                // they rest once they are published, released or unpinned
                case FILLING, DETACHED -> {}
            }
        }
    }

    /**
     * Records a request for the block of a frame.
     */
    void countUse(Frame frame)
    {
        RamClass ramClass = frames.classOf(frame);
        // a small block in a large frame saves little per byte
        uses.use(ramClass.index, (double) frame.length / ((long) sizeClasses.units(ramClass.index) * MemoryLayout.UNIT_BYTES));
    }

    /**
     * @return null if no slab can be drained
     */
    private RamSlab coldest(RamClass ramClass)
    {
        RamSlab coldest = null;
        long lowest = Long.MAX_VALUE;
        int step = Math.max(1, ramClass.slabs.size() / MAX_SLABS_COMPARED);
        for (int i = 0; i < ramClass.slabs.size(); i += step) {
            RamSlab slab = ramClass.slabs.get(i);
            long heat = 0;
            for (Frame frame : slab.frames) {
                heat += heat(ramClass, frame);
            }
            if (heat < lowest) {
                coldest = slab;
                lowest = heat;
            }
        }
        return lowest < MUST_STAY ? coldest : null;
    }

    private long heat(RamClass ramClass, Frame frame)
    {
        if ((frame.state == State.LIVE || frame.state == State.FILLING) && frames.policyClass(frame.terms) == BlockClass.PINNED) {
            return MUST_STAY;
        }
        if (frame.pins > 0 || frame.state == State.FILLING) {
            // it would delay the whole slab
            return 1000;
        }
        if (frame.state == State.LIVE) {
            return ramClass.policy.isShielded(frame.entry) || frames.policyClass(frame.terms) == BlockClass.HIGH ? 4 : 1;
        }
        return 0;
    }

    /**
     * Assigns drained slabs to their new classes once the rest of all their frames is over.
     */
    void finishDraining(long now)
    {
        draining.removeIf(slab -> finishDraining(slab, now));
    }

    private boolean finishDraining(RamSlab slab, long now)
    {
        for (Frame frame : slab.frames) {
            boolean done = frame.state == State.FREE || (frame.state == State.RESTING && frame.pins == 0 && now - frame.restsSinceNanos >= RamFrames.REST_NANOS);
            if (!done) {
                return false;
            }
        }
        for (Frame frame : slab.frames) {
            if (frame.state == State.RESTING) {
                frames.forget(frame);
            }
            frames.freeEntry(frame);
        }
        slab.draining = false;
        slab.sizeClass = -1;
        slab.frames = new Frame[0];
        cut(slab, frames.classes().get(slab.nextSizeClass));
        return true;
    }

    boolean isDraining()
    {
        return !draining.isEmpty();
    }

    /**
     * Returns the number of frames in slabs with a class.
     */
    long frameCount()
    {
        return uses.placeCount();
    }
}
