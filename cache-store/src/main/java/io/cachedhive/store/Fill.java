package io.cachedhive.store;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A frame that is being filled. Nobody sees it before {@link #commit}. Safe for use by one thread at a time.
 */
public interface Fill
        extends AutoCloseable
{
    /**
     * A direct view of the frame, as long as the block: write all of it, in any order. The same buffer at each call. Not to be used
     * after {@link #commit} or {@link #close}.
     */
    ByteBuffer buffer();

    /**
     * Computes the checksum, publishes the block in shared memory and queues it for the SSD. If somebody else committed the same block
     * meanwhile, gives theirs. Costs a pass over the block.
     *
     * @return empty if the file was dropped, or bound to another ETag, since {@link BlockStore#beginFill}: the bytes belong to nothing now
     */
    Optional<PinnedBlock> commit();

    /**
     * Likewise, of a block that nobody has asked for yet, but somebody will: readers are told so until {@link BlockStore#asked}.
     */
    Optional<PinnedBlock> commitAhead();

    /**
     * Gives the frame back if it was not committed. Closing twice, or after {@link #commit}, is harmless.
     */
    @Override
    void close();
}
