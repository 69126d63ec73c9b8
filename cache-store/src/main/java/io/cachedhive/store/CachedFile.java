package io.cachedhive.store;

import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The cached part of a file version.
 *
 * @param ramBytes bytes of its blocks in RAM, including guests
 * @param ssdBytes bytes of its blocks on SSD
 * @param cachedBytes bytes of its blocks in either tier, each block counted once
 * @param pinnedBytes bytes of its blocks of class pinned
 * @param bestClass the highest class of its blocks
 * @param nextExpirySeconds earliest expiry of its blocks in epoch seconds; {@link BlockTerms#NEVER} if none expires
 */
public record CachedFile(FileMetadata metadata, long ramBytes, long ssdBytes, long cachedBytes, long pinnedBytes, BlockClass bestClass, long nextExpirySeconds)
{
    public CachedFile
    {
        requireNonNull(metadata, "metadata is null");
        requireNonNull(bestClass, "bestClass is null");
    }

    /**
     * @return empty if no block of the file is cached
     */
    static Optional<CachedFile> of(FileMetadata metadata, long ramBytes, long ssdBytes, long cachedBytes, long pinnedBytes, BlockClass bestClass, long nextExpirySeconds)
    {
        return cachedBytes == 0 ? Optional.empty() : Optional.of(new CachedFile(metadata, ramBytes, ssdBytes, cachedBytes, pinnedBytes, bestClass, nextExpirySeconds));
    }
}
