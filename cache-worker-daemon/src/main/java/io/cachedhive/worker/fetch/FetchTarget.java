package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.S3ObjectLocation;

import static java.util.Objects.requireNonNull;

/**
 * A file version and its location at the origin.
 *
 * @param table {@code schema.table} of the first read
 * @param chunkSizeBytes the chunk size by which the client of the first read finds owners; 0 if unspecified
 * @param terms the terms on which fetched blocks are kept
 */
public record FetchTarget(Origin origin, S3ObjectLocation location, FileVersion version, FileVersionId id, String table, long chunkSizeBytes, FillTerms terms)
{
    public FetchTarget
    {
        requireNonNull(origin, "origin is null");
        requireNonNull(location, "location is null");
        requireNonNull(version, "version is null");
        requireNonNull(id, "id is null");
        requireNonNull(table, "table is null");
        requireNonNull(terms, "terms is null");
    }

    public FetchTarget(Origin origin, S3ObjectLocation location, FileVersion version, FileVersionId id, String table, long chunkSizeBytes)
    {
        this(origin, location, version, id, table, chunkSizeBytes, FillTerms.UNSPECIFIED);
    }

    RequestLimits.Bucket bucket()
    {
        return new RequestLimits.Bucket(origin.name(), location.bucket());
    }
}
