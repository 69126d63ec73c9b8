package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.NoCause;

/**
 * Receives the results of a fetch. Each requested block that is not abandoned leads to exactly one of these calls, from
 * any thread, possibly within the requesting call. Implementations must return quickly.
 */
public interface BlockWaiter
{
    /**
     * Called when the block has been stored in RAM. It stays there during this call.
     */
    void stored(int block);

    /**
     * Called instead of {@link #stored} when another worker provided the block.
     */
    default void handedOver(int block)
    {
        stored(block);
    }

    /**
     * Called when the block was fetched but not stored, because its version is provisional or there is no free frame.
     * The bytes are valid during this call, or longer if retained.
     */
    void bytes(int block, SharedBytes bytes);

    /**
     * Called when the store has the block, because another fetch has just completed.
     */
    void present(int block);

    /**
     * Called when this worker has no permission to read the block. A client may have it.
     */
    void denied(int block);

    void failed(int block, NoCause cause);
}
