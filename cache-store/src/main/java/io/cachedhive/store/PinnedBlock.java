package io.cachedhive.store;

import io.cachedhive.protocol.checksum.PieceChecksums;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A block in a frame of shared memory that cannot be evicted until it is closed. Close it soon (within one
 * transmission). Closing twice has no effect. Safe for use by one thread at a time.
 */
public interface PinnedBlock
        extends AutoCloseable
{
    /**
     * Returns the number of the frame, for {@link io.cachedhive.protocol.wire.ReadMessage.BlockFrame}.
     */
    int frame();

    /**
     * Returns the offset of the frame in the shared-memory file, in bytes.
     */
    long frameOffset();

    /**
     * Returns the generation of the frame. It stays valid while pinned and for at least 100 ms afterwards, unless the
     * file is dropped.
     */
    long generation();

    /**
     * Returns the length of the block in bytes.
     */
    int length();

    long etagDigest();

    /**
     * Returns the checksums of a range of the block, for {@link io.cachedhive.protocol.wire.ReadMessage.BlockBytes}.
     * Verifies the pieces of which the range has only a part; the receiver verifies the others.
     *
     * @return empty if the block is damaged; it is then removed from RAM
     */
    Optional<PieceChecksums> checksums(int offset, int length);

    /**
     * Returns a new read-only view of the frame, valid until {@link #close}. Never compute a checksum over it, because
     * a fault inside the JDK's intrinsic kills the JVM: use {@link #checksums}.
     */
    ByteBuffer payload();

    /**
     * Returns the tier in which the call found the block.
     */
    BlockOrigin tier();

    @Override
    void close();
}
