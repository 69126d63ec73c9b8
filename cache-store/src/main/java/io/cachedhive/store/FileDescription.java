package io.cachedhive.store;

import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * Describes a file version and its cached blocks.
 *
 * @param blocks terms by block index
 */
public record FileDescription(FileMetadata metadata, Map<Integer, BlockTerms> blocks)
{
    public FileDescription
    {
        requireNonNull(metadata, "metadata is null");
        blocks = Map.copyOf(blocks);
    }
}
