package io.cachedhive.worker.handover;

import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Settings of the connections between cache workers.
 *
 * @param zone of this cache worker, which handed-over blocks do not leave
 * @param sharedSecret of the cache workers
 * @param silence how long another cache worker may take to answer; for the bytes of a block twice as long
 */
public record PeerSettings(Optional<String> zone, Optional<String> sharedSecret, Duration silence)
{
    public PeerSettings
    {
        requireNonNull(zone, "zone is null");
        requireNonNull(sharedSecret, "sharedSecret is null");
        requireNonNull(silence, "silence is null");
    }
}
