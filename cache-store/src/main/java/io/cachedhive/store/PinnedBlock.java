package io.cachedhive.store;

import java.nio.ByteBuffer;

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
     * Returns the CRC32C of the payload alone, see {@link io.cachedhive.protocol.wire.ReadMessage.BlockBytes}.
     */
    int checksum();

    /**
     * Returns a new read-only view of the frame, valid until {@link #close}. Never compute a checksum over it, because
     * a fault inside the JDK's intrinsic kills the JVM: use {@link #checksum}.
     */
    ByteBuffer payload();

    /**
     * Returns the tier in which the call found the block.
     */
    BlockOrigin tier();

    @Override
    void close();
}
