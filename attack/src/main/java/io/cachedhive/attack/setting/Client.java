package io.cachedhive.attack.setting;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;

import java.io.IOException;
import java.util.Optional;

/**
 * A client that knows the shared secret, as a Trino worker does.
 */
public interface Client
        extends AutoCloseable
{
    /**
     * Reads a block over TCP.
     *
     * @param worker the cache worker that is expected at the address; empty for any
     * @return the bytes, verified as far as the client verifies bytes
     * @throws IOException if the client does not accept the server, or gets no bytes
     */
    byte[] read(WorkerAddress address, Optional<CacheWorkerId> worker, Sample sample)
            throws IOException, InterruptedException;

    @Override
    void close();
}
