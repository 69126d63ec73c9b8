package io.cachedhive.worker.service;

import io.cachedhive.store.StoreConfig;
import io.cachedhive.worker.startup.StartupException;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * All that a cache worker is made of.
 *
 * @param bindAddress of the TCP block server
 * @param port of the TCP block server; 0 for any free one
 * @param socketGroup that may use the Unix socket
 * @param sharedSecret that peers on TCP must know
 * @param maxRangeBytes of one request to an origin
 * @param maxRequestsPerBucket at the same time
 * @param maxPreloadRequests at the same time
 * @param peerSilence how long another cache worker may take to answer when blocks are read from it; for the bytes of each of them twice as long,
 *         and four times as long for the tombstones that are requested before the start
 * @param version of this software
 */
public record WorkerSettings(
        InetAddress bindAddress,
        int port,
        Path socketPath,
        Optional<String> socketGroup,
        Optional<String> sharedSecret,
        Optional<String> zone,
        StoreConfig store,
        Path originsDirectory,
        int maxRangeBytes,
        int maxRequestsPerBucket,
        int maxPreloadRequests,
        Duration peerSilence,
        String version)
{
    public static final Duration DEFAULT_PEER_SILENCE = Duration.ofMillis(500);

    public WorkerSettings
    {
        requireNonNull(bindAddress, "bindAddress is null");
        requireNonNull(socketPath, "socketPath is null");
        requireNonNull(socketGroup, "socketGroup is null");
        requireNonNull(sharedSecret, "sharedSecret is null");
        requireNonNull(zone, "zone is null");
        requireNonNull(store, "store is null");
        requireNonNull(originsDirectory, "originsDirectory is null");
        requireNonNull(peerSilence, "peerSilence is null");
        requireNonNull(version, "version is null");
    }

    /**
     * Strangers can reach any other address than a loopback one.
     *
     * @throws StartupException if the address is none and there is no secret
     */
    public static void requireSecretForStrangers(InetAddress bindAddress, Optional<String> sharedSecret)
    {
        if (!bindAddress.isLoopbackAddress() && sharedSecret.isEmpty()) {
            throw new StartupException(
                    ("node.bind-ip=%s is not a loopback address, and every host that reaches it could read the cache: "
                            + "set internal-communication.shared-secret, the same on all hosts")
                            .formatted(bindAddress.getHostAddress()));
        }
    }
}
