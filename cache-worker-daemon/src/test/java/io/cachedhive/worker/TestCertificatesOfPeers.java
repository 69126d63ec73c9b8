package io.cachedhive.worker;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.CachedBlock;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.transport.WorkerConnections;
import io.cachedhive.transport.WorkerException;
import io.cachedhive.transport.WorkerSession;
import io.cachedhive.transport.tls.CertificateName.Role;
import io.cachedhive.transport.tls.Certificates;
import io.cachedhive.transport.tls.Certificates.InvalidCertificatesException;
import io.cachedhive.transport.tls.TestingAuthority;
import io.cachedhive.worker.http.WorkerMetrics;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import static io.cachedhive.transport.tls.TestingAuthority.file;
import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static io.cachedhive.worker.testing.TestingWorker.SECRETS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients with certificates, and a cache worker that checks them, over TCP.
 */
@Timeout(120)
class TestCertificatesOfPeers
{
    private static final Timeouts PATIENT = new Timeouts(30_000, 30_000, 4_000, 1000);
    private static final String CLIENT = "cachedhive://lake/client";
    private static final String ANY_WORKER = "cachedhive://lake/worker/*";

    @TempDir
    private Path directory;

    private final TestingAuthority authority = new TestingAuthority("authority");
    private final AtomicLong nanos = new AtomicLong();
    private Path workerKeys;
    private Path clientKeys;
    private Path trusted;
    private TestingWorker worker;

    @BeforeEach
    void setUp()
    {
        workerKeys = directory.resolve("worker.pem");
        clientKeys = directory.resolve("client.pem");
        trusted = directory.resolve("ca.pem");
        authority.issue(workerKeys, ANY_WORKER);
        authority.issue(clientKeys, CLIENT);
        TestingAuthority.trust(trusted, authority);
        worker = new TestingWorker(directory.resolve("worker"));
    }

    @AfterEach
    void tearDown()
    {
        worker.close();
    }

    private Certificates certificates(Role role, Path keystore)
    {
        try {
            return Certificates.open(role, file("keystore", keystore), Optional.of(file("truststore", trusted)), InstantSource.system(), nanos::get);
        }
        catch (InvalidCertificatesException e) {
            throw new AssertionError(e);
        }
    }

    private void startWorker()
    {
        worker.withCertificates(certificates(Role.WORKER, workerKeys)).start();
    }

    private void nextCheckOfTheFiles()
    {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
    }

    private ClientIdentity identity(Optional<Certificates> certificates)
    {
        return new ClientIdentity("cluster", "lake", "node", worker.origins(), SECRETS).withCertificates(certificates);
    }

    private WorkerAddress address()
    {
        return new WorkerAddress("127.0.0.1", worker.tcpAddress().getPort());
    }

    /// Returns why a client cannot use the cache worker: what `problem` of `system.cache.nodes` shows.
    private String problem(Optional<Certificates> certificates)
            throws Exception
    {
        try (WorkerAdmin admin = WorkerAdmin.start(identity(certificates), Optional.empty(), PATIENT)) {
            admin.ping(address()).get();
            return "";
        }
        catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(WorkerException.class);
            return e.getCause().getMessage();
        }
    }

    private String problem(Path keystore)
            throws Exception
    {
        return problem(Optional.of(certificates(Role.CLIENT, keystore)));
    }

    /// A client that does not check the cache worker.
    private String carelessProblem(Path keystore)
            throws Exception
    {
        return problem(Optional.of(Certificates.open(Role.CLIENT, file("keystore", keystore), Optional.empty())));
    }

    @Test
    void testAcceptedPeers()
            throws Exception
    {
        startWorker();
        assertThat(problem(clientKeys)).isEmpty();
        // another cache worker
        assertThat(problem(workerKeys)).isEmpty();
        assertThat(worker.gauge(CounterNames.REJECTED_CONNECTIONS)).isZero();
        authority.issue(workerKeys, "cachedhive://lake/worker/" + worker.service().store().workerId());
        nextCheckOfTheFiles();
        assertThat(problem(clientKeys)).isEmpty();
        assertThat(worker.service().status().problem()).isEmpty();
    }

    /// The reason reaches the client, and the refusal is counted.
    @Test
    void testRefusedClients()
            throws Exception
    {
        startWorker();
        Instant now = Instant.now();
        Path keys = directory.resolve("refused.pem");
        authority.issue(keys, CLIENT, now.minus(Duration.ofDays(9)), now.minus(Duration.ofDays(1)));
        assertThat(problem(keys)).contains("refuses: the certificate", "of the client", "expired at");
        assertThat(worker.gauge(CounterNames.REJECTED_CONNECTIONS)).isEqualTo(1);
        authority.issue(keys, CLIENT, now.plus(Duration.ofDays(1)), now.plus(Duration.ofDays(9)));
        assertThat(problem(keys)).contains("refuses: the certificate", "of the client", "is not valid before");
        new TestingAuthority("foreign").issue(keys, CLIENT);
        assertThat(problem(keys)).contains("refuses: the certificate", "of the client", "not signed by an authority in the truststore");
        authority.issue(keys, "cachedhive://other/client");
        assertThat(carelessProblem(keys)).contains("refuses: the certificate", "of the client", "for the cluster other");
        assertThat(worker.gauge(CounterNames.REJECTED_CONNECTIONS)).isEqualTo(4);
        assertThat(problem(Optional.empty())).contains("may require a certificate of its clients", "cachedhive.worker.tls.keystore-path");
        Await.until("it is counted", () -> worker.gauge(CounterNames.REJECTED_CONNECTIONS) == 5);
        assertThat(worker.gauge(CounterNames.CONNECTIONS)).isZero();
    }

    @Test
    void testRefusedWorkers()
            throws Exception
    {
        startWorker();
        Instant now = Instant.now();
        authority.issue(workerKeys, ANY_WORKER, now.minus(Duration.ofDays(9)), now.minus(Duration.ofDays(1)));
        nextCheckOfTheFiles();
        assertThat(problem(clientKeys)).contains("is not trusted: the certificate", "of the cache worker", "expired at");
        assertThat(worker.service().status().problem().orElse("")).contains("keystore=" + workerKeys, "expired at");
        assertThat(worker.gauge(CounterNames.CERTIFICATE_EXPIRY_SECONDS)).isZero();
        authority.issue(workerKeys, ANY_WORKER, now.plus(Duration.ofDays(1)), now.plus(Duration.ofDays(90)));
        nextCheckOfTheFiles();
        assertThat(problem(clientKeys)).contains("is not trusted: the certificate", "of the cache worker", "is not valid before");
        new TestingAuthority("foreign").issue(workerKeys, ANY_WORKER);
        nextCheckOfTheFiles();
        assertThat(problem(clientKeys)).contains("is not trusted: the certificate", "of the cache worker", "not signed by an authority in the truststore");
    }

    @Test
    void testCertificateOfAnotherWorker()
            throws Exception
    {
        startWorker();
        CacheWorkerId self = worker.service().store().workerId();
        authority.issue(workerKeys, "cachedhive://lake/worker/other");
        nextCheckOfTheFiles();
        assertThat(problem(clientKeys)).contains("is %s, but its certificate names the cache worker other".formatted(self));
        assertThat(worker.service().status().problem().orElse("")).contains("for the cache worker other, and this is " + self);
    }

    @Test
    void testWorkerWithoutCertificate()
            throws Exception
    {
        worker.start();
        assertThat(problem(clientKeys)).contains("is not trusted: the certificate", "not signed by an authority in the truststore");
        assertThat(problem(Optional.empty())).isEmpty();
        assertThat(worker.service().status().gauges()).doesNotContainKey(CounterNames.CERTIFICATE_EXPIRY_SECONDS);
        assertThat(exportedMetrics()).contains(CounterNames.CONNECTIONS).doesNotContain(CounterNames.CERTIFICATE_EXPIRY_SECONDS);
    }

    /// The first step of the switch: certificates are presented, and peers without them are accepted.
    @Test
    void testKeystoreWithoutTruststore()
            throws Exception
    {
        worker.withCertificates(Certificates.open(Role.WORKER, file("keystore", workerKeys), Optional.empty())).start();
        assertThat(problem(Optional.empty())).isEmpty();
        assertThat(carelessProblem(clientKeys)).isEmpty();
        assertThat(problem(clientKeys)).isEmpty();
        assertThat(worker.gauge(CounterNames.CERTIFICATE_EXPIRY_SECONDS)).isBetween(Duration.ofDays(89).toSeconds(), Duration.ofDays(90).toSeconds());
        assertThat(exportedMetrics()).contains(CounterNames.CERTIFICATE_EXPIRY_SECONDS);
    }

    private Stream<String> exportedMetrics()
    {
        return new WorkerMetrics(worker.service()).snapshot().values().keySet().stream().map(CacheMetric::name);
    }

    /// Keys, certificates and authorities are replaced while blocks are read over open and new connections.
    @Test
    void testReloadUnderReads()
            throws Exception
    {
        try (Lake lake = Lake.start(directory.resolve("s3"))) {
            worker.withOrigin("default", lake.s3().clientProperties());
            startWorker();
            StoredFile stored = lake.putSettled("table/file", BLOCK_SIZE, 1);
            cache(lake, stored);
            Certificates clientCertificates = certificates(Role.CLIENT, clientKeys);
            Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
            AtomicInteger reads = new AtomicInteger();
            AtomicBoolean stopped = new AtomicBoolean();
            try (WorkerConnections open = connections(clientCertificates)) {
                readBlock(open, stored);
                WorkerSession session = open.peers().getFirst().session().orElseThrow();
                Thread reader = Thread.ofPlatform().start(() -> {
                    while (!stopped.get()) {
                        try (WorkerConnections fresh = connections(clientCertificates)) {
                            readBlock(open, stored);
                            readBlock(fresh, stored);
                        }
                        catch (Exception | AssertionError e) {
                            failures.add(e);
                        }
                        reads.incrementAndGet();
                    }
                });
                try {
                    replaceFiles(reads);
                }
                finally {
                    stopped.set(true);
                    reader.join();
                }
                assertThat(failures).isEmpty();
                assertThat(open.peers().getFirst().session()).containsSame(session);
            }
            assertThat(worker.gauge(CounterNames.REJECTED_CONNECTIONS)).isZero();
            // the new files are in use
            Path former = directory.resolve("former.pem");
            authority.issue(former, CLIENT);
            assertThat(carelessProblem(former)).contains("not signed by an authority in the truststore");
        }
    }

    /// Adds the new authority, then uses its certificates, then removes the former authority. A broken file comes in between.
    private void replaceFiles(AtomicInteger reads)
            throws IOException
    {
        TestingAuthority next = new TestingAuthority("next");
        awaitReads(reads);
        TestingAuthority.trust(trusted, authority, next);
        nextCheckOfTheFiles();
        awaitReads(reads);
        next.issue(workerKeys, ANY_WORKER);
        nextCheckOfTheFiles();
        awaitReads(reads);
        TestingAuthority.write(clientKeys, Files.readString(clientKeys).substring(0, 100));
        nextCheckOfTheFiles();
        awaitReads(reads);
        next.issue(clientKeys, CLIENT);
        nextCheckOfTheFiles();
        awaitReads(reads);
        TestingAuthority.trust(trusted, next);
        nextCheckOfTheFiles();
        awaitReads(reads);
    }

    private static void awaitReads(AtomicInteger reads)
    {
        int before = reads.get();
        Await.until("blocks are read", () -> reads.get() > before + 2);
    }

    private void cache(Lake lake, StoredFile stored)
            throws Exception
    {
        try (CacheClient client = CacheClient.start(new CacheClientConfig(worker.socketPath(), identity(Optional.empty()), 8 << 20, CacheClientConfig.Limits.DEFAULT, PATIENT))) {
            Await.until("the worker is there", () -> client.local().connected());
            byte[] bytes = new byte[stored.bytes().length];
            client.open(0, stored.file(), new ReadScope("schema.table", Optional.empty(), true, new ReadObserver()), lake.input(stored)).readFully(0, bytes, 0, bytes.length);
            assertThat(bytes).isEqualTo(stored.bytes());
        }
    }

    private WorkerConnections connections(Certificates certificates)
    {
        return new WorkerConnections("test", identity(Optional.of(certificates)), Optional.empty(), PATIENT, 1, 16, System::nanoTime);
    }

    private void readBlock(WorkerConnections connections, StoredFile stored)
            throws Exception
    {
        CachedBlock block = connections.askBlock(
                connections.peer(address(), Optional.of(worker.service().store().workerId())),
                0,
                stored.file(),
                0,
                new RingEpoch(0),
                "schema.table",
                30_000).get();
        assertThat(block.bytes()).isEqualTo(stored.bytes());
    }
}
