package io.cachedhive.protocol.ring;

import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * A cache worker's membership in the ring.
 *
 * @param weight bytes of SSD, or of RAM without SSD; the share of the chunks is proportional to it
 */
public record RingMember(CacheWorkerId id, long weight, Optional<String> zone)
{
    public RingMember
    {
        requireNonNull(id, "id is null");
        requireNonNull(zone, "zone is null");
        if (weight <= 0) {
            throw new IllegalArgumentException("weight of %s is not positive: %s".formatted(id, weight));
        }
    }
}
