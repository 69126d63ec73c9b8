package io.cachedhive.store;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * How much of a file version the store has.
 *
 * @param ramBytes of its blocks in RAM, guests included
 * @param ssdBytes of its blocks on SSD
 * @param cachedBytes of its blocks in either
 * @param pinnedBytes of those of class pinned
 * @param bestClass the highest class of its blocks
 * @param nextExpirySeconds when the first of its blocks expires, since the epoch; {@link BlockTerms#NEVER} if none does
 */
public record CachedFile(FileMetadata metadata, long ramBytes, long ssdBytes, long cachedBytes, long pinnedBytes, BlockClass bestClass, long nextExpirySeconds)
{
    public CachedFile
    {
        requireNonNull(metadata, "metadata is null");
        requireNonNull(bestClass, "bestClass is null");
    }

    /**
     * @return empty if there is no block of the file
     */
    static Optional<CachedFile> of(FileMetadata metadata, long ramBytes, long ssdBytes, long cachedBytes, long pinnedBytes, BlockClass bestClass, long nextExpirySeconds)
    {
        return cachedBytes == 0 ? Optional.empty() : Optional.of(new CachedFile(metadata, ramBytes, ssdBytes, cachedBytes, pinnedBytes, bestClass, nextExpirySeconds));
    }
}
