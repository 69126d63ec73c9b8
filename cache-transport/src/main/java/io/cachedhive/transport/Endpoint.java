package io.cachedhive.transport;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Where a worker listens.
 */
public sealed interface Endpoint
{
    /**
     * The worker of this host. The permissions of the socket's file decide who may speak, so that neither side asks for a proof of the secret.
     */
    record UnixSocket(Path path)
            implements Endpoint
    {
        @Override
        public String toString()
        {
            return path.toString();
        }
    }

    /**
     * @param worker who has to answer there; empty for whoever does
     */
    record Tcp(WorkerAddress address, Optional<CacheWorkerId> worker)
            implements Endpoint
    {
        @Override
        public String toString()
        {
            return address.toString();
        }
    }
}
