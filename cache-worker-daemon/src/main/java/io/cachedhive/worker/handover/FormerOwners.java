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
 * Finds the workers that owned a chunk before this worker, on the rings of the last hour.
 */
final class FormerOwners
{
    /**
     * The time for which the owners on a replaced ring are asked. By then, blocks in use have been requested.
     */
    static final Duration ASKED_FOR = Duration.ofHours(1);
    /**
     * The maximum number of former owners: the last one and the one before, in case the last one did not own the chunk
     * for long enough to be asked for all of its blocks.
     */
    static final int MAX_OWNERS = 2;

    private final RingRegistry rings;
    private final CacheWorkerId self;
    private final Optional<String> zone;
    private final Supplier<Instant> clock;

    /**
     * @param zone the zone of this worker; former owners are those within it, which the zone's readers have used
     */
    FormerOwners(RingRegistry rings, CacheWorkerId self, Optional<String> zone, Supplier<Instant> clock)
    {
        this.rings = requireNonNull(rings, "rings is null");
        this.self = requireNonNull(self, "self is null");
        this.zone = requireNonNull(zone, "zone is null");
        this.clock = requireNonNull(clock, "clock is null");
    }

    /**
     * Returns the rings that were replaced within the last hour, the newest first.
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
     * Returns the former owners of a chunk, the last one first, without this worker and workers without an address.
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
     * Returns a worker with its address on the newest ring that contains it. Empty if it had no address there, or is on
     * no known ring.
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
