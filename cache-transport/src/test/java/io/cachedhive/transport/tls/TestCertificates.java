package io.cachedhive.transport.tls;

import io.airlift.security.pem.PemReader;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.transport.tls.CertificateName.Role;
import io.cachedhive.transport.tls.Certificates.InvalidCertificatesException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import javax.net.ssl.SSLException;

import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static io.cachedhive.transport.tls.TestingAuthority.file;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(120)
class TestCertificates
{
    private static final String CLIENT = "cachedhive://lake/client";
    private static final String WORKER = "cachedhive://lake/worker/w1";

    @TempDir
    private Path directory;

    private final TestingAuthority authority = new TestingAuthority("authority");
    private final AtomicLong nanos = new AtomicLong();
    private Path worker;
    private Path client;
    private Path trusted;

    @BeforeEach
    void writeFiles()
    {
        worker = directory.resolve("worker.pem");
        client = directory.resolve("client.pem");
        trusted = directory.resolve("ca.pem");
        authority.issue(worker, WORKER);
        authority.issue(client, CLIENT);
        TestingAuthority.trust(trusted, authority);
    }

    private Certificates open(Role role, Path keystore, InstantSource clock)
            throws InvalidCertificatesException
    {
        return Certificates.open(role, file("keystore", keystore), Optional.of(file("truststore", trusted)), clock, nanos::get);
    }

    private Certificates open(Role role, Path keystore)
            throws InvalidCertificatesException
    {
        return open(role, keystore, InstantSource.system());
    }

    /// What both ends of a connection found.
    ///
    /// @param clientProblem why the client refuses the server
    /// @param serverProblem why the server refuses the client
    /// @param worker the id in the certificate of the server
    private record Outcome(Optional<String> clientProblem, Optional<String> serverProblem, Optional<CacheWorkerId> worker) {}

    private static Outcome connect(Certificates server, Certificates client)
            throws Exception
    {
        TlsCredentials serverCredentials = server.current();
        TlsCredentials clientCredentials = client.current();
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                ExecutorService threads = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory())) {
            Future<Optional<String>> serverProblem = threads.submit(() -> {
                try (TlsConnection connection = TlsConnection.server(listener.accept(), serverCredentials.serverContext(), true, ByteBuffer.allocate(0))) {
                    connection.handshake();
                    return serverCredentials.clientProblem(connection.session());
                }
                catch (SSLException _) {
                    return Optional.empty();
                }
            });
            try (TlsConnection connection = TlsConnection.client(SocketChannel.open(listener.getLocalAddress()), clientCredentials.clientContext())) {
                connection.handshake();
                return new Outcome(Optional.empty(), serverProblem.get(), clientCredentials.certifiedWorker(connection.session()));
            }
            catch (SSLException e) {
                return new Outcome(PeerCertificateException.cause(e).map(Exception::getMessage), serverProblem.get(), Optional.empty());
            }
        }
    }

    private String serverProblem(Path keystore)
            throws Exception
    {
        return connect(open(Role.WORKER, worker), careless(keystore)).serverProblem().orElse("");
    }

    /// A client that does not check the server.
    private static Certificates careless(Path keystore)
            throws InvalidCertificatesException
    {
        return Certificates.open(Role.CLIENT, file("keystore", keystore), Optional.empty());
    }

    private String clientProblem(Path keystore)
            throws Exception
    {
        return connect(open(Role.WORKER, keystore), open(Role.CLIENT, client)).clientProblem().orElse("");
    }

    @Test
    void testAcceptedPair()
            throws Exception
    {
        assertThat(connect(open(Role.WORKER, worker), open(Role.CLIENT, client)))
                .isEqualTo(new Outcome(Optional.empty(), Optional.empty(), Optional.of(new CacheWorkerId("w1"))));
        // a cache worker is a client of others
        assertThat(connect(open(Role.WORKER, worker), open(Role.WORKER, worker)).serverProblem()).isEmpty();
        authority.issue(worker, "cachedhive://lake/worker/*");
        assertThat(connect(open(Role.WORKER, worker), open(Role.CLIENT, client))).isEqualTo(new Outcome(Optional.empty(), Optional.empty(), Optional.empty()));
    }

    @Test
    void testExpired()
            throws Exception
    {
        Instant now = Instant.now();
        Path file = directory.resolve("expired.pem");
        authority.issue(file, CLIENT, now.minus(Duration.ofDays(9)), now.minus(Duration.ofDays(1)));
        assertThat(serverProblem(file)).contains("of the client", "expired at");
        authority.issue(file, WORKER, now.minus(Duration.ofDays(9)), now.minus(Duration.ofDays(1)));
        assertThat(clientProblem(file)).contains("of the cache worker", "expired at");
    }

    @Test
    void testNotYetValid()
            throws Exception
    {
        Instant now = Instant.now();
        Path file = directory.resolve("early.pem");
        authority.issue(file, CLIENT, now.plus(Duration.ofDays(1)), now.plus(Duration.ofDays(9)));
        assertThat(serverProblem(file)).contains("of the client", "is not valid before", "clocks");
        authority.issue(file, WORKER, now.plus(Duration.ofDays(1)), now.plus(Duration.ofDays(9)));
        assertThat(clientProblem(file)).contains("of the cache worker", "is not valid before", "clocks");
    }

    @Test
    void testForeignAuthority()
            throws Exception
    {
        Path file = directory.resolve("foreign.pem");
        // the same name alone proves nothing
        for (String name : List.of("foreign", "authority")) {
            TestingAuthority foreign = new TestingAuthority(name);
            foreign.issue(file, CLIENT);
            assertThat(serverProblem(file)).contains("of the client", "not signed by an authority in the truststore");
            foreign.issue(file, WORKER);
            assertThat(clientProblem(file)).contains("of the cache worker", "not signed by an authority in the truststore");
        }
    }

    @Test
    void testWrongRole()
            throws Exception
    {
        // a client that poses as a cache worker
        Certificates posing = open(Role.CLIENT, client);
        assertThat(connect(posing, open(Role.CLIENT, client)).clientProblem().orElse(""))
                .contains("cachedhive://lake/client", "not the name of a cache worker", "URI:cachedhive://lake/worker/ID");
    }

    @Test
    void testOtherCluster()
            throws Exception
    {
        Path file = directory.resolve("other.pem");
        authority.issue(file, "cachedhive://other/client");
        assertThat(serverProblem(file)).contains("for the cluster other", "for the cluster lake");
        authority.issue(file, "cachedhive://other/worker/w1");
        assertThat(clientProblem(file)).contains("for the cluster other", "for the cluster lake");
    }

    @Test
    void testOtherWorker()
            throws Exception
    {
        Certificates certificates = open(Role.WORKER, worker);
        assertThat(certificates.problem(new CacheWorkerId("w1"))).isEmpty();
        assertThat(certificates.problem(new CacheWorkerId("w2")).orElse("")).contains("for the cache worker w1, and this is w2", "cachedhive://lake/worker/w2");
    }

    @Test
    void testReload()
            throws Exception
    {
        Certificates certificates = open(Role.WORKER, worker);
        TlsCredentials first = certificates.current();
        authority.issue(worker, WORKER);
        assertThat(certificates.current()).isSameAs(first);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        TlsCredentials second = certificates.current();
        assertThat(second).isNotSameAs(first);
        // nothing changed
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(certificates.current()).isSameAs(second);
        TestingAuthority.trust(trusted, new TestingAuthority("next"));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(certificates.current()).isNotSameAs(second);
        assertThat(connect(certificates, careless(client)).serverProblem().orElse("")).contains("not signed by an authority in the truststore");
    }

    @Test
    void testBrokenFile()
            throws Exception
    {
        Certificates certificates = open(Role.WORKER, worker);
        TlsCredentials first = certificates.current();
        String valid = Files.readString(worker);
        for (String broken : new String[] {
                "",
                "-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n",
                valid.substring(0, valid.length() / 2),
                // the key does not fit
                valid.substring(0, valid.indexOf("-----BEGIN CERTIFICATE")) + authority.certificateWithoutKey(WORKER),
        }) {
            TestingAuthority.write(worker, broken);
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
            assertThat(certificates.current()).isSameAs(first);
            assertThat(certificates.problem().orElse("")).contains("keystore=" + worker, "the former certificates stay in use");
        }
        Files.delete(worker);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(certificates.problem().orElse("")).contains("keystore=" + worker, "the former certificates stay in use");
        TestingAuthority.write(worker, valid);
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(certificates.problem()).isEmpty();
    }

    @Test
    void testExpiry()
            throws Exception
    {
        Instant now = Instant.now();
        authority.issue(worker, WORKER, now.minus(Duration.ofDays(1)), now.plus(Duration.ofDays(30)));
        Instant[] time = {now};
        Certificates certificates = open(Role.WORKER, worker, () -> time[0]);
        assertThat(certificates.problem()).isEmpty();
        assertThat(certificates.remaining()).isBetween(Duration.ofDays(30).minusSeconds(1), Duration.ofDays(30));
        time[0] = now.plus(Duration.ofDays(17));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(certificates.problem().orElse("")).contains("expires at", "replace the file");
        assertThat(certificates.remaining()).isBetween(Duration.ofDays(13).minusSeconds(1), Duration.ofDays(13));
        time[0] = now.plus(Duration.ofDays(31));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertThat(certificates.problem().orElse("")).contains("expired at", "issue a new one");
        assertThat(certificates.remaining()).isZero();
    }

    @Test
    void testOtherFormats()
            throws Exception
    {
        char[] password = "changeit".toCharArray();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, password);
        KeyStore pem = PemReader.loadKeyStore(worker.toFile(), worker.toFile(), Optional.empty(), false);
        String alias = pem.aliases().nextElement();
        keys.setKeyEntry("worker", pem.getKey(alias, new char[0]), password, pem.getCertificateChain(alias));
        Path file = directory.resolve("worker.p12");
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r-----")));
        try (OutputStream output = Files.newOutputStream(file)) {
            keys.store(output, password);
        }
        Certificates certificates = Certificates.open(
                Role.WORKER,
                new KeyFile("keystore", file, Optional.of("changeit")),
                Optional.of(file("truststore", trusted)));
        assertThat(connect(certificates, open(Role.CLIENT, client)).clientProblem()).isEmpty();
        assertThatThrownBy(() -> Certificates.open(Role.WORKER, new KeyFile("keystore", file, Optional.of("wrong")), Optional.empty()))
                .isInstanceOf(InvalidCertificatesException.class)
                .hasMessageContainingAll("keystore=" + file, "cannot be used", "password")
                .hasMessageNotContaining("wrong");
    }

    @Test
    void testConfiguration()
            throws Exception
    {
        KeyFile keystore = file("internal-communication.https.keystore.path", worker);
        KeyFile truststore = file("internal-communication.https.truststore.path", trusted);
        assertThat(Certificates.configured(Role.WORKER, Optional.empty(), Optional.empty(), true)).isEmpty();
        assertThat(Certificates.configured(Role.WORKER, Optional.of(keystore), Optional.of(truststore), true).orElseThrow().current().requiresPeerCertificates()).isTrue();
        // while certificates are introduced
        assertThat(Certificates.configured(Role.WORKER, Optional.of(keystore), Optional.empty(), true).orElseThrow().current().requiresPeerCertificates()).isFalse();
        assertThatThrownBy(() -> Certificates.configured(Role.WORKER, Optional.empty(), Optional.of(truststore), true))
                .hasMessage("internal-communication.https.truststore.path is set without a keystore, so that no peer could check this process: "
                        + "set internal-communication.https.keystore.path, too");
        assertThatThrownBy(() -> Certificates.configured(Role.WORKER, Optional.of(keystore), Optional.of(truststore), false))
                .hasMessageContaining("internal-communication.https.keystore.path is set without a shared secret");
        assertThatThrownBy(() -> Certificates.configured(Role.WORKER, Optional.of(file("keystore", client)), Optional.of(truststore), true))
                .hasMessageContainingAll("does not name a cachedhive worker", "URI:cachedhive://CLUSTER/worker/ID");
        Files.setPosixFilePermissions(worker, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> Certificates.configured(Role.WORKER, Optional.of(keystore), Optional.of(truststore), true))
                .hasMessageContainingAll("is open to other users", "chmod o-rwx,g-w");
        Files.setPosixFilePermissions(worker, PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(trusted, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertThatThrownBy(() -> Certificates.configured(Role.WORKER, Optional.of(keystore), Optional.of(truststore), true))
                .hasMessageContainingAll("is open to other users", "chmod o-w");
    }
}
