package io.cachedhive.store;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A frame being filled, invisible to readers before {@link #commit}. Safe for use by one thread at a time.
 */
public interface Fill
        extends AutoCloseable
{
    /**
     * Returns a direct view of the frame, as long as the block; each call returns the same buffer. The caller writes
     * all of it, in any order. Must not be used after {@link #commit} or {@link #close}.
     */
    ByteBuffer buffer();

    /**
     * Computes the checksum in one pass over the block, publishes the block in shared memory and queues it for SSD. If
     * another fill committed the same block first, returns that block.
     *
     * @return empty if the file was dropped or bound to another ETag since {@link BlockStore#beginFill}
     */
    Optional<PinnedBlock> commit();

    /**
     * Commits a prefetched block. Readers see it marked as prefetched until {@link BlockStore#clearPrefetched}.
     */
    Optional<PinnedBlock> commitAhead();

    /**
     * Frees the frame if it was not committed. Has no effect on a committed or closed fill.
     */
    @Override
    void close();
}
