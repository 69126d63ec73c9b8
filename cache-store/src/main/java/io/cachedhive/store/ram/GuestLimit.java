package io.cachedhive.store.ram;

import io.cachedhive.store.policy.EvictionPolicy;

import static java.util.Objects.requireNonNull;

/**
 * Limits the memory of guest blocks. Guarded by the store's lock.
 */
final class GuestLimit
{
    private final RamFrames frames;
    private final RamSlabs slabs;
    private final double maxShare;

    /**
     * @param maxShare limit on the memory of frames with guests, as a fraction of the allocated frames
     */
    GuestLimit(RamFrames frames, RamSlabs slabs, double maxShare)
    {
        this.frames = requireNonNull(frames, "frames is null");
        this.slabs = requireNonNull(slabs, "slabs is null");
        this.maxShare = maxShare;
    }

    /**
     * Needs no lock.
     */
    long maxBytes()
    {
        return (long) (maxShare * slabs.bytes());
    }

    /**
     * Evicts guests for a new guest, preferably of the same frame size.
     *
     * @return false if the new guest does not fit into the limit
     */
    boolean makeRoom(Frame newcomer, long now)
    {
        long bytes = frames.frameBytes(newcomer);
        long maxBytes = maxBytes();
        if (bytes > maxBytes) {
            return false;
        }
        RamClass own = frames.classOf(newcomer);
        while (frames.guestBytes() + bytes > maxBytes) {
            if (!evictGuest(own, now) && frames.classes().stream().noneMatch(ramClass -> evictGuest(ramClass, now))) {
                return false;
            }
        }
        return true;
    }

    private boolean evictGuest(RamClass ramClass, long now)
    {
        int entry = ramClass.policy.pollGuest();
        if (entry == EvictionPolicy.NO_ENTRY) {
            return false;
        }
        Frame victim = frames.of(entry);
        frames.rest(victim, now);
        ramClass.resting.addLast(victim);
        return true;
    }
}
