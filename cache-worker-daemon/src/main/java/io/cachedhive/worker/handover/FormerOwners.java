package io.cachedhive.worker.handover;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.worker.ring.RingRegistry;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * Who owned a chunk before this worker, on the rings that were in force within the last hour.
 */
final class FormerOwners
{
    /**
     * For how long after a ring was replaced its owners are asked: by then what is still in use has been asked for.
     */
    static final Duration ASKED_FOR = Duration.ofHours(1);
    /**
     * The one before, and the one before that, who may have been asked for less than there was time for.
     */
    static final int MAX_OWNERS = 2;

    private final RingRegistry rings;
    private final CacheWorkerId self;
    private final Optional<String> zone;
    private final Supplier<Instant> clock;

    /**
     * @param zone of this worker: former owners are those within it, as readers have asked them
     */
    FormerOwners(RingRegistry rings, CacheWorkerId self, Optional<String> zone, Supplier<Instant> clock)
    {
        this.rings = requireNonNull(rings, "rings is null");
        this.self = requireNonNull(self, "self is null");
        this.zone = requireNonNull(zone, "zone is null");
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * Rings that were replaced within the hour, the newest first.
     */
    List<PublishedRing> replacedRings()
    {
        List<PublishedRing> all = rings.rings();
        long since = clock.get().minus(ASKED_FOR).toEpochMilli();
        int count = 1;
        while (count < all.size() && all.get(count - 1).publishedMillis() >= since) {
            count++;
        }
        return all.subList(Math.min(1, all.size()), Math.min(count, all.size()));
    }

    /**
     * The last one first; without this worker, and without those that are nowhere now.
     *
     * @param replaced from {@link #replacedRings}
     */
    List<Peer> of(ChunkKey chunk, List<PublishedRing> replaced)
    {
        List<Peer> owners = new ArrayList<>();
        for (PublishedRing ring : replaced) {
            Optional<CacheWorkerId> owner = ring.ring().ownerWithin(chunk, zone).filter(id -> !id.equals(self) && owners.stream().noneMatch(known -> known.id().equals(id)));
            owner.flatMap(this::find).ifPresent(owners::add);
            if (owners.size() == MAX_OWNERS) {
                break;
            }
        }
        return owners;
    }

    /**
     * Where a worker was when a ring with it was published last; empty if it was nowhere, or is on no ring that is known.
     */
    Optional<Peer> find(CacheWorkerId id)
    {
        return rings.rings().stream()
                .filter(ring -> ring.ring().member(id).isPresent())
                .findFirst()
                .flatMap(ring -> ring.address(id))
                .map(address -> new Peer(id, address));
    }
}
