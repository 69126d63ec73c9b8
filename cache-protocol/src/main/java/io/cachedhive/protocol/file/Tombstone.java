package io.cachedhive.protocol.file;

import static java.util.Objects.requireNonNull;

/**
 * Says that nothing of some files that was cached before may be served. It covers every block that a cache worker has, and every fill that has begun there, when the
 * worker first learns of it, whenever that is: so no clocks are compared, and a worker that was away does what the others did.
 *
 * @param id made with it, so that a worker knows whether it has done it already
 * @param location a whole location, or the beginning of locations if it ends in {@code /}
 * @param createdMillis since the epoch; only tells when everybody has had time enough to learn of it
 */
public record Tombstone(Digest128 id, OriginId origin, String location, long createdMillis)
{
    public Tombstone
    {
        requireNonNull(id, "id is null");
        requireNonNull(origin, "origin is null");
        requireNonNull(location, "location is null");
        if (location.isEmpty() || location.equals("/")) {
            throw new IllegalArgumentException("location of a tombstone names everything: '%s'".formatted(location));
        }
    }

    public boolean covers(FileVersion file)
    {
        return file.origin().equals(origin) && covers(file.location());
    }

    private boolean covers(String other)
    {
        return location.endsWith("/") ? other.startsWith(location) : other.equals(location);
    }

    /**
     * Whether a worker that learns of this one has nothing left to do for the other.
     */
    public boolean covers(Tombstone other)
    {
        return other.origin.equals(origin) && covers(other.location);
    }
}
