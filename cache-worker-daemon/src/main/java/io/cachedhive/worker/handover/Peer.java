package io.cachedhive.worker.handover;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;

import static java.util.Objects.requireNonNull;

record Peer(CacheWorkerId id, WorkerAddress address)
{
    Peer
    {
        requireNonNull(id, "id is null");
        requireNonNull(address, "address is null");
    }
}
