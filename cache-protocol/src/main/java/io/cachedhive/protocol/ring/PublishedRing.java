package io.cachedhive.protocol.ring;

import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A ring as the coordinator publishes it: with what may change without moving a chunk.
 *
 * @param addresses where the members listen; a member without an address is served by nobody at present, and its chunks are read from the origin
 * @param publishedMillis when the coordinator made this ring or last changed an address, milliseconds since the epoch: of two rings the later one is newer
 */
public record PublishedRing(HashRing ring, Map<CacheWorkerId, WorkerAddress> addresses, long publishedMillis)
{
    public PublishedRing
    {
        requireNonNull(ring, "ring is null");
        addresses = Map.copyOf(addresses);
        for (CacheWorkerId id : addresses.keySet()) {
            if (ring.member(id).isEmpty()) {
                throw new IllegalArgumentException("address of a cache worker that is not on the ring: " + id);
            }
        }
    }

    public RingEpoch epoch()
    {
        return ring.epoch();
    }

    public Optional<WorkerAddress> address(CacheWorkerId id)
    {
        return Optional.ofNullable(addresses.get(id));
    }
}
