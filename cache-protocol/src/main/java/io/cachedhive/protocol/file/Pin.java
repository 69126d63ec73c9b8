package io.cachedhive.protocol.file;

import java.util.Comparator;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Says whether files of some place are pinned by name. Of several that say it of the same place the newest holds, so that workers that learn of them in different orders come
 * to the same. A file is pinned if any place that it lies in is.
 *
 * @param id made with it
 * @param location a whole location, or the beginning of locations if it ends in {@code /}
 * @param table {@code schema.table} that the place belongs to
 * @param partition of the table, by its name ({@code day=1/hour=2}); empty for the table itself
 * @param pinned false if it is pinned no longer
 * @param createdMillis since the epoch, later than that of any other one of the same place that whoever made it knew of
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
     * Of the same place.
     */
    public boolean isNewerThan(Pin other)
    {
        return BY_AGE.compare(this, other) > 0;
    }
}
