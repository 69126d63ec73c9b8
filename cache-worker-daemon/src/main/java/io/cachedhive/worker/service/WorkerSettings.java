package io.cachedhive.worker.service;

import io.cachedhive.store.StoreConfig;
import io.cachedhive.worker.startup.StartupException;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The settings of a cache worker.
 *
 * @param bindAddress the address of the TCP block server
 * @param port the port of the TCP block server; 0 for any free port
 * @param socketGroup the group that may use the Unix socket
 * @param sharedSecret the secret that peers on TCP must know
 * @param maxRangeBytes the maximum size of one request to an origin
 * @param maxRequestsPerBucket the maximum number of concurrent requests to a bucket
 * @param maxPreloadRequests the maximum number of concurrent requests for preloads
 * @param peerSilence the maximum time for another cache worker to answer when blocks are read from it; twice as long
 * for the bytes of each block, and four times as long for the tombstones that are requested at startup
 * @param version the version of this software
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
     * Checks that there is a shared secret unless the address is a loopback address, which other hosts cannot reach.
     *
     * @throws StartupException if the address is not a loopback address and there is no secret
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
