package io.cachedhive.store;

import java.nio.ByteBuffer;

/**
 * A block in a frame of shared memory that stays there until this is closed. Close it soon (within a transmission): a pinned frame
 * cannot be evicted. Closing twice is harmless. Safe for use by one thread at a time.
 */
public interface PinnedBlock
        extends AutoCloseable
{
    /**
     * The frame's number, for {@link io.cachedhive.protocol.wire.ReadMessage.BlockFrame}.
     */
    int frame();

    /**
     * Bytes from the start of the shared-memory file.
     */
    long frameOffset();

    /**
     * The frame keeps it while pinned and for at least 100 ms afterwards, unless the file is dropped.
     */
    long generation();

    /**
     * Bytes of the block.
     */
    int length();

    long etagDigest();

    /**
     * CRC32C of the payload alone, as {@link io.cachedhive.protocol.wire.ReadMessage.BlockBytes} wants it.
     */
    int checksum();

    /**
     * The payload: a new read-only view of the frame, valid until {@link #close}. Never run a checksum over it (a fault inside the JDK's
     * intrinsic ends the JVM): {@link #checksum} has it.
     */
    ByteBuffer payload();

    /**
     * Where the block was found by the call that gave this.
     */
    BlockOrigin tier();

    @Override
    void close();
}
