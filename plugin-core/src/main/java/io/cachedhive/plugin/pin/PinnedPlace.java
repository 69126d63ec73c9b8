package io.cachedhive.plugin.pin;

import io.cachedhive.protocol.file.Pin;

import static java.util.Objects.requireNonNull;

/**
 * What cache workers say of a place: the newest pin, and what they have of its files.
 *
 * @param cachedBytes of all workers together, guests among them
 * @param pinnedBytes of those that are of class pinned
 */
public record PinnedPlace(Pin pin, long cachedBytes, long pinnedBytes)
{
    public PinnedPlace
    {
        requireNonNull(pin, "pin is null");
    }

    /**
     * What two workers say of one place.
     */
    PinnedPlace add(PinnedPlace other)
    {
        return new PinnedPlace(other.pin.isNewerThan(pin) ? other.pin : pin, cachedBytes + other.cachedBytes, pinnedBytes + other.pinnedBytes);
    }
}
