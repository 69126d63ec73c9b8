package io.cachedhive.plugin.membership;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.StatusMessage.Pong;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A host that has, or ought to have, a cache worker.
 *
 * @param address where the coordinator asks for it
 * @param worker the cache worker; empty if none ever answered there
 * @param lastPong its last answer to this coordinator
 * @param problem why it does not answer; empty while it does, and before it was asked
 * @param weight bytes; 0 if no cache worker ever answered
 * @param ringShare of all chunks, 0 to 1
 */
public record Place(
        WorkerAddress address,
        PlaceState state,
        Optional<CacheWorkerId> worker,
        Optional<Pong> lastPong,
        Optional<String> problem,
        long weight,
        Optional<String> zone,
        double ringShare)
{
    public Place
    {
        requireNonNull(address, "address is null");
        requireNonNull(state, "state is null");
        requireNonNull(worker, "worker is null");
        requireNonNull(lastPong, "lastPong is null");
        requireNonNull(problem, "problem is null");
        requireNonNull(zone, "zone is null");
    }
}
