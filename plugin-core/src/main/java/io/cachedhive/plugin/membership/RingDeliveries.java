package io.cachedhive.plugin.membership;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.StatusMessage.Pong;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Which cache workers have which ring of this coordinator. Each gets a ring once in its process's life: a cache worker keeps rings of several coordinators, and
 * which of them is the newest says nothing about the others. Not thread-safe.
 */
final class RingDeliveries
{
    private final Map<WorkerAddress, Delivery> deliveries = new HashMap<>();

    private record Delivery(Digest128 instance, PublishedRing ring)
    {
        private Delivery
        {
            requireNonNull(instance, "instance is null");
            requireNonNull(ring, "ring is null");
        }
    }

    /**
     * Whether the cache worker that gave this answer still needs the ring.
     */
    boolean isDue(WorkerAddress address, Pong pong, PublishedRing ring)
    {
        if (pong.newestRingPublishedMillis() == ring.publishedMillis() && pong.newestRing().equals(ring.epoch())) {
            return false;
        }
        return !new Delivery(pong.instance(), ring).equals(deliveries.get(address));
    }

    void delivered(WorkerAddress address, Pong pong, PublishedRing ring)
    {
        deliveries.put(address, new Delivery(pong.instance(), ring));
    }

    /**
     * Forgets all other addresses.
     */
    void retain(Set<WorkerAddress> addresses)
    {
        deliveries.keySet().retainAll(addresses);
    }
}
