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
     * The worker of this host. The permissions of the socket's file decide who may connect. A client that has a secret requires and gives proof of it here, too.
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
     * A worker at an address. A client that has no secret reaches only the worker of its own host, over the Unix socket, whose worker then must not have one either.
     *
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
