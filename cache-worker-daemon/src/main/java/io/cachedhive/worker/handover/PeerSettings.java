package io.cachedhive.worker.handover;

import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Settings of the connections between cache workers.
 *
 * @param zone the zone of this cache worker; hand-over stays within it
 * @param sharedSecret the secret of the cache workers
 * @param silence the maximum time for another cache worker to answer; twice as long for the bytes of a block
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
