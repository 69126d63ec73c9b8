package io.cachedhive.protocol.file;

import java.util.Comparator;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * States whether the files at a location are pinned by name. Of several pins for one location the newest wins, so
 * workers that receive them in different orders agree. A file is pinned if any location that covers it is pinned.
 *
 * @param id created with the pin
 * @param location a whole location, or a prefix if it ends in {@code /}
 * @param table the {@code schema.table} that the location belongs to
 * @param partition the partition name ({@code day=1/hour=2}); empty for the table itself
 * @param pinned false if the location is no longer pinned
 * @param createdMillis milliseconds since the Unix epoch; later than every pin of this location that its creator knew
 */
public record Pin(Digest128 id, OriginId origin, String location, String table, Optional<String> partition, boolean pinned, long createdMillis)
{
    private static final Comparator<Pin> BY_AGE = Comparator.comparingLong(Pin::createdMillis).thenComparing(Pin::id);

    public Pin
    {
        requireNonNull(id, "id is null");
        requireNonNull(origin, "origin is null");
        requireNonNull(location, "location is null");
        requireNonNull(table, "table is null");
        requireNonNull(partition, "partition is null");
        if (location.isEmpty() || location.equals("/")) {
            throw new IllegalArgumentException("location of a pin names everything: '%s'".formatted(location));
        }
    }

    /**
     * Returns this pin with a creation time that is not after the given one.
     */
    public Pin createdNotAfter(long millis)
    {
        return createdMillis <= millis ? this : new Pin(id, origin, location, table, partition, pinned, millis);
    }

    /**
     * Returns whether this pin replaces another pin of the same location.
     */
    public boolean isNewerThan(Pin other)
    {
        return BY_AGE.compare(this, other) > 0;
    }
}
