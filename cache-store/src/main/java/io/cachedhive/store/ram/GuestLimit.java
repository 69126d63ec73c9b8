package io.cachedhive.store.ram;

import io.cachedhive.store.policy.EvictionPolicy;

import static java.util.Objects.requireNonNull;

/**
 * Keeps guests within their share of the frames. Guarded by the store's lock.
 */
final class GuestLimit
{
    private final RamFrames frames;
    private final long maxBytes;

    /**
     * @param maxBytes of frames that guests may take
     */
    GuestLimit(RamFrames frames, long maxBytes)
    {
        this.frames = requireNonNull(frames, "frames is null");
        this.maxBytes = maxBytes;
    }

    long maxBytes()
    {
        return maxBytes;
    }

    /**
     * Guests leave for guests: first those with frames of that size, then others.
     */
    boolean makeRoom(Frame newcomer, long now)
    {
        long bytes = frames.frameBytes(newcomer);
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
