package io.cachedhive.store.file;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What the store knows of a file version of which it has, or had a moment ago, at least one block.
 *
 * @param etag the ETag that the first fill bound, as the origin wrote it; empty if the origin told none
 * @param provisional whether the version may still be overwritten unseen, and was not confirmed yet
 * @param table {@code schema.table} of the read that filled it first
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
