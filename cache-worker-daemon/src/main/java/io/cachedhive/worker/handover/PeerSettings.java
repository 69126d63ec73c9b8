package io.cachedhive.worker.handover;

import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.transport.tls.Certificates;

import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Settings of the connections between cache workers.
 *
 * @param zone the zone of this cache worker; hand-over stays within it
 * @param secrets the shared secrets of the cache workers
 * @param certificates the certificates of the operator, if there are any
 * @param silence the maximum time for another cache worker to answer; twice as long for the bytes of a block
 */
public record PeerSettings(Optional<String> zone, Secrets secrets, Optional<Certificates> certificates, Duration silence)
{
    public PeerSettings
    {
        requireNonNull(zone, "zone is null");
        requireNonNull(secrets, "secrets is null");
        requireNonNull(certificates, "certificates is null");
        requireNonNull(silence, "silence is null");
    }
}
