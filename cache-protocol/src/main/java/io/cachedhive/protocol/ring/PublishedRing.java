package io.cachedhive.protocol.ring;

import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A ring as the coordinator publishes it, with the properties that may change without moving a chunk.
 *
 * @param addresses where the members listen; chunks of a member without an address are read from the origin
 * @param publishedMillis when the coordinator created this ring or last changed an address, in milliseconds since the
 * Unix epoch; of two rings the later one is newer
 */
public record PublishedRing(HashRing ring, Map<CacheWorkerId, WorkerAddress> addresses, long publishedMillis)
{
    /**
     * The maximum number of members of a ring.
     */
    public static final int MAX_MEMBERS = 4096;

    public PublishedRing
    {
        requireNonNull(ring, "ring is null");
        if (ring.members().size() > MAX_MEMBERS) {
            throw new IllegalArgumentException("ring has %s members, at most %s are allowed".formatted(ring.members().size(), MAX_MEMBERS));
        }
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
