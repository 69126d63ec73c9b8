package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.S3ObjectLocation;

import static java.util.Objects.requireNonNull;

/**
 * A file version and where it is fetched from.
 *
 * @param table {@code schema.table} of the read that asks first
 * @param chunkSizeBytes by which the client that asks first finds owners; 0 if it does not say
 * @param terms on which what is fetched for it is kept
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

    /**
     * For who says nothing of how blocks are kept.
     */
    public FetchTarget(Origin origin, S3ObjectLocation location, FileVersion version, FileVersionId id, String table, long chunkSizeBytes)
    {
        this(origin, location, version, id, table, chunkSizeBytes, FillTerms.UNSAID);
    }

    RequestLimits.Bucket bucket()
    {
        return new RequestLimits.Bucket(origin.name(), location.bucket());
    }
}
