package io.cachedhive.worker.origin;

import io.cachedhive.protocol.file.OriginId;

import java.nio.file.Path;

import static java.util.Objects.requireNonNull;

/**
 * An object store that this worker fetches from.
 *
 * @param name the value of {@code cachedhive.origin} that refers to it
 * @param file the properties file of the origin
 * @param allowedLocations the files that this worker may read from it
 */
public record Origin(String name, OriginId id, Path file, ObjectSource source, OriginHealth health, AllowedLocations allowedLocations)
{
    public Origin
    {
        requireNonNull(name, "name is null");
        requireNonNull(id, "id is null");
        requireNonNull(file, "file is null");
        requireNonNull(source, "source is null");
        requireNonNull(health, "health is null");
        requireNonNull(allowedLocations, "allowedLocations is null");
    }
}
