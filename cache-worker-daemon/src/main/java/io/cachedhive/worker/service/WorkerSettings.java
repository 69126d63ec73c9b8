package io.cachedhive.worker.service;

import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.worker.server.SocketAccess;
import io.cachedhive.worker.server.TlsMode;
import io.cachedhive.worker.startup.StartupException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The settings of a cache worker.
 *
 * @param bindAddress the address of the TCP block server
 * @param port the port of the TCP block server, which listens only if there is a shared secret; 0 for any free port
 * @param socketAccess who may use the Unix socket
 * @param secrets the secrets of which peers on TCP must know one
 * @param tls whether peers on TCP must use TLS
 * @param maxRangeBytes the maximum size of one request to an origin
 * @param maxRequestsPerBucket the maximum number of concurrent requests to a bucket
 * @param maxPreloadRequests the maximum number of concurrent requests for preloads
 * @param peerSilence the maximum time for another cache worker to answer when blocks are read from it; twice as long
 * for the bytes of each block, and four times as long for the tombstones that are requested at startup
 * @param version the version of this software
 * @param certificates the certificates of the operator for the block port; empty for a self-signed one
 */
public record WorkerSettings(
        InetAddress bindAddress,
        int port,
        Path socketPath,
        SocketAccess socketAccess,
        Secrets secrets,
        TlsMode tls,
        Optional<String> zone,
        StoreConfig store,
        Path originsDirectory,
        int maxRangeBytes,
        int maxRequestsPerBucket,
        int maxPreloadRequests,
        Duration peerSilence,
        String version,
        Optional<Certificates> certificates)
{
    public static final Duration DEFAULT_PEER_SILENCE = Duration.ofMillis(500);

    /**
     * Creates the settings of a cache worker without certificates of the operator.
     */
    public WorkerSettings(
            InetAddress bindAddress,
            int port,
            Path socketPath,
            SocketAccess socketAccess,
            Secrets secrets,
            TlsMode tls,
            Optional<String> zone,
            StoreConfig store,
            Path originsDirectory,
            int maxRangeBytes,
            int maxRequestsPerBucket,
            int maxPreloadRequests,
            Duration peerSilence,
            String version)
    {
        this(
                bindAddress,
                port,
                socketPath,
                socketAccess,
                secrets,
                tls,
                zone,
                store,
                originsDirectory,
                maxRangeBytes,
                maxRequestsPerBucket,
                maxPreloadRequests,
                peerSilence,
                version,
                Optional.empty());
    }

    public WorkerSettings
    {
        requireNonNull(bindAddress, "bindAddress is null");
        requireNonNull(socketPath, "socketPath is null");
        requireNonNull(socketAccess, "socketAccess is null");
        requireNonNull(secrets, "secrets is null");
        requireNonNull(tls, "tls is null");
        requireNonNull(zone, "zone is null");
        requireNonNull(store, "store is null");
        requireNonNull(originsDirectory, "originsDirectory is null");
        requireNonNull(peerSilence, "peerSilence is null");
        requireNonNull(version, "version is null");
        requireNonNull(certificates, "certificates is null");
    }

    /**
     * Returns these settings with the certificates of the operator for the block port.
     */
    public WorkerSettings withCertificates(Optional<Certificates> certificates)
    {
        return new WorkerSettings(
                bindAddress,
                port,
                socketPath,
                socketAccess,
                secrets,
                tls,
                zone,
                store,
                originsDirectory,
                maxRangeBytes,
                maxRequestsPerBucket,
                maxPreloadRequests,
                peerSilence,
                version,
                certificates);
    }

    /**
     * Returns where the block server accepts TCP connections; empty without a shared secret.
     */
    Optional<InetSocketAddress> tcpAddress()
    {
        return secrets.isEmpty() ? Optional.empty() : Optional.of(new InetSocketAddress(bindAddress, port));
    }

    /**
     * Checks that there is a shared secret unless the address is a loopback address, which other hosts cannot reach.
     *
     * @throws StartupException if the address is not a loopback address and there is no secret
     */
    public static void requireSecretForStrangers(InetAddress bindAddress, Secrets secrets)
    {
        if (!bindAddress.isLoopbackAddress() && secrets.isEmpty()) {
            throw new StartupException(
                    ("node.bind-ip=%s is not a loopback address, and a cache worker without a shared secret serves only its own host: "
                            + "set internal-communication.shared-secret, the same on all hosts")
                            .formatted(bindAddress.getHostAddress()));
        }
    }
}
