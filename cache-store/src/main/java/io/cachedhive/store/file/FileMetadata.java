package io.cachedhive.store.file;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The metadata of a file version of which the store has, or recently had, at least one block.
 *
 * @param etag the ETag bound by the first fill, as the origin sent it; empty if the origin sent none
 * @param provisional whether the version is unconfirmed, so that an unnoticed overwrite is possible
 * @param table {@code schema.table} of the first read that filled it
 */
public record FileMetadata(FileVersion version, Optional<String> etag, boolean provisional, String table)
{
    public FileMetadata
    {
        requireNonNull(version, "version is null");
        requireNonNull(etag, "etag is null");
        requireNonNull(table, "table is null");
    }

    public long etagDigest()
    {
        return etag.map(ETags::digest).orElse(ETags.NONE);
    }
}
