package io.cachedhive.chaos.fault;

import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.transport.tls.TestingAuthority;
import io.cachedhive.transport.tls.TlsContexts;

import javax.net.ssl.SSLSocket;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * The certificates of a run: an authority, and a keystore for each cache worker and each Trino server.
 * <p>
 * Trino servers require certificates of cache workers. Cache workers require none, so that attackers without certificates get as far as the proof of the secret.
 */
public final class ClusterCertificates
{
    /** The time after which every process has read its keystore again, and a bit more. */
    static final Duration RELOAD = Duration.ofSeconds(12);

    private static final Duration VALIDITY = Duration.ofDays(90);
    private static final Duration AGE = Duration.ofHours(3);
    private static final int TIMEOUT_MILLIS = 20_000;

    private final Path directory;
    private final TestingAuthority authority = new TestingAuthority("chaos");

    private ClusterCertificates(Path directory)
    {
        this.directory = requireNonNull(directory, "directory is null");
    }

    /**
     * Creates an authority.
     *
     * @param directory for its certificate and the keystores
     */
    public static ClusterCertificates create(Path directory)
            throws IOException
    {
        Files.createDirectories(directory);
        ClusterCertificates certificates = new ClusterCertificates(directory);
        TestingAuthority.trust(certificates.truststore(), certificates.authority);
        return certificates;
    }

    /** Issues a certificate for a cache worker, and returns the properties that name its keystore. */
    public Map<String, String> cacheWorkerProperties(String node)
    {
        issueToCacheWorker(node, lasting());
        return Map.of("internal-communication.https.keystore.path", keystore(node).toString());
    }

    /** Issues a certificate for a Trino server, and returns the properties of the catalog that name its keystore and the authority. */
    public Map<String, String> catalogProperties(String node)
    {
        issueToTrino(node, lasting());
        return Map.of(
                "cachedhive.worker.tls.keystore-path", keystore(node).toString(),
                "cachedhive.worker.tls.truststore-path", truststore().toString());
    }

    /** The end of certificates of which no process reports that they expire soon. */
    static Instant lasting()
    {
        return Instant.now().plus(VALIDITY);
    }

    void issueToCacheWorker(String node, Instant expiry)
    {
        authority.issue(keystore(node), "cachedhive://chaos/worker/*", Instant.now().minus(AGE), expiry);
    }

    void issueToTrino(String node, Instant expiry)
    {
        authority.issue(keystore(node), "cachedhive://chaos/client", Instant.now().minus(AGE), expiry);
    }

    Path keystore(String node)
    {
        return directory.resolve(node + ".pem");
    }

    Path truststore()
    {
        return directory.resolve("ca.pem");
    }

    /** The end of the certificate that a cache worker presents to new connections. */
    static Instant presentedExpiry(ClusterNode cacheWorker)
            throws IOException
    {
        CacheWorkerHome home = (CacheWorkerHome) cacheWorker.home();
        try (SSLSocket socket = (SSLSocket) TlsContexts.secretClient().getSocketFactory().createSocket(home.address(), home.workerPort())) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.startHandshake();
            return ((X509Certificate) socket.getSession().getPeerCertificates()[0]).getNotAfter().toInstant();
        }
    }
}
