package io.cachedhive.worker.lease;

import io.cachedhive.worker.fetch.BlockWaiter;

/**
 * A request for a block that only a client can read.
 */
public interface LeaseWaiter
        extends BlockWaiter
{
    /**
     * Returns the connection of the request. Leases belong to the connection and end with it.
     */
    Object owner();

    /**
     * Returns whether the client can read the block itself and offer it.
     */
    boolean mayLease();

    /**
     * Called when this client has been granted the lease and should read the block.
     */
    void leased(int block, long lease);
}
