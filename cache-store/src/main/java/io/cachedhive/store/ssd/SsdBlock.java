package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.file.StoredFile;

import static java.util.Objects.requireNonNull;

/**
 * A block in the index. Only reading it verifies that it is still there.
 *
 * @param directory number of the directory
 */
public record SsdBlock(Digest128 digest, StoredFile file, int length, int directory, int slab, int extent, long sequence, BlockTerms terms)
{
    public SsdBlock
    {
        requireNonNull(digest, "digest is null");
        requireNonNull(file, "file is null");
        requireNonNull(terms, "terms is null");
    }
}
