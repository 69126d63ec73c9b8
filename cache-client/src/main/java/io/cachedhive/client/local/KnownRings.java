package io.cachedhive.client.local;

import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rings that this client has heard of. Those that a worker forgot (it was restarted, it was replaced) are kept until newer ones take their place.
 */
public final class KnownRings
{
    private static final int LIMIT = 16;

    private volatile List<PublishedRing> newestFirst = List.of();
    private volatile Map<RingEpoch, PublishedRing> byEpoch = Map.of();

    /**
     * @return whether anything changed
     */
    public synchronized boolean add(List<PublishedRing> heard)
    {
        Map<RingEpoch, PublishedRing> merged = new HashMap<>(byEpoch);
        for (PublishedRing ring : heard) {
            // the same members with other addresses: the later one is true
            merged.merge(ring.epoch(), ring, (left, right) -> right.publishedMillis() >= left.publishedMillis() ? right : left);
        }
        List<PublishedRing> sorted = merged.values().stream()
                .sorted(Comparator.comparingLong(PublishedRing::publishedMillis).reversed().thenComparingLong(ring -> ring.epoch().value()))
                .limit(LIMIT)
                .toList();
        if (sorted.equals(newestFirst)) {
            return false;
        }
        Map<RingEpoch, PublishedRing> kept = new HashMap<>();
        sorted.forEach(ring -> kept.put(ring.epoch(), ring));
        byEpoch = Map.copyOf(kept);
        newestFirst = sorted;
        return true;
    }

    public List<PublishedRing> newestFirst()
    {
        return newestFirst;
    }

    public Optional<PublishedRing> newest()
    {
        return newestFirst.stream().findFirst();
    }

    public Optional<PublishedRing> find(RingEpoch epoch)
    {
        return Optional.ofNullable(byEpoch.get(epoch));
    }
}
