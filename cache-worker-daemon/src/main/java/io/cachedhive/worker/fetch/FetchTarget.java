package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.S3ObjectLocation;

import static java.util.Objects.requireNonNull;

/**
 * A file version and where it is fetched from.
 *
 * @param table {@code schema.table} of the read that asks first
 */
public record FetchTarget(Origin origin, S3ObjectLocation location, FileVersion version, FileVersionId id, String table)
{
    public FetchTarget
    {
        requireNonNull(origin, "origin is null");
        requireNonNull(location, "location is null");
        requireNonNull(version, "version is null");
        requireNonNull(id, "id is null");
        requireNonNull(table, "table is null");
    }

    RequestLimits.Bucket bucket()
    {
        return new RequestLimits.Bucket(origin.name(), location.bucket());
    }
}
