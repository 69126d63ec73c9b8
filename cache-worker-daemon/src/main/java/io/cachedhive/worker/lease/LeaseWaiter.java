package io.cachedhive.worker.lease;

import io.cachedhive.worker.fetch.BlockWaiter;

/**
 * Who wants a block that only a client can read.
 */
public interface LeaseWaiter
        extends BlockWaiter
{
    /**
     * The connection that asks: leases are its own, and end with it.
     */
    Object owner();

    /**
     * Whether the client would read the block itself and offer it.
     */
    boolean mayLease();

    /**
     * This client is the one to read the block.
     */
    void leased(int block, long lease);
}
