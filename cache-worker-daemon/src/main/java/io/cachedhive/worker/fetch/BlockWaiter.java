package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.wire.NoCause;

/**
 * Who wants blocks fetched. Each block that was asked for and not abandoned ends with exactly one of these calls, from any thread, also from within the asking call.
 * They return soon.
 */
public interface BlockWaiter
{
    /**
     * The block is in RAM, and stays there during this call.
     */
    void stored(int block);

    /**
     * The same, but that another worker had it, and not the origin.
     */
    default void handedOver(int block)
    {
        stored(block);
    }

    /**
     * The block was fetched but is not in the store: it may not be shown to others yet, or there is no room. Valid during this call, or longer if retained.
     */
    void bytes(int block, SharedBytes bytes);

    /**
     * The store has the block after all: somebody else's fetch ended a moment ago.
     */
    void present(int block);

    /**
     * This worker has no right to read it: a client may.
     */
    void denied(int block);

    void failed(int block, NoCause cause);
}
