package io.cachedhive.protocol.file;

import static java.util.Objects.requireNonNull;

/**
 * Invalidates everything that was cached of some files. When a cache worker first receives a tombstone, it drops every
 * block that it has of these files and every fill that has already begun. Workers therefore compare no clocks, and a
 * worker that was offline applies the tombstone when it returns.
 *
 * @param id created with the tombstone; lets a worker recognize one that it has already applied
 * @param location a whole location, or a prefix if it ends in {@code /}
 * @param createdMillis milliseconds since the Unix epoch; only used to decide when a tombstone can be forgotten
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

    /**
     * Returns this tombstone with a creation time that is not after the given one.
     */
    public Tombstone createdNotAfter(long millis)
    {
        return createdMillis <= millis ? this : new Tombstone(id, origin, location, millis);
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
     * Returns whether applying this tombstone makes the other one redundant.
     */
    public boolean covers(Tombstone other)
    {
        return other.origin.equals(origin) && covers(other.location);
    }
}
