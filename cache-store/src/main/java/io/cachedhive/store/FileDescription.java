package io.cachedhive.store;

import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.FileMetadata;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * What the store has of a file version.
 *
 * @param blocks by their index, on which terms they are kept
 */
public record FileDescription(FileMetadata metadata, Map<Integer, BlockTerms> blocks)
{
    public FileDescription
    {
        requireNonNull(metadata, "metadata is null");
        blocks = Map.copyOf(blocks);
    }
}
