package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Optional;

import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who is used at all. A client with a secret requires proof of it from every cache worker, also over the Unix socket.
 */
class TestConnecting
{
    private ReadFixture fixture;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    /**
     * Reads from the other worker.
     */
    private CacheClient read(TestingWorker other, Optional<String> secret)
            throws IOException
    {
        PublishedRing ring = fixture.publish(Map.of(fixture.local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(PATIENT, CacheClientConfig.Limits.DEFAULT, secret));
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), fixture.chunkOf(ring, other), 10);
        return client;
    }

    private void assertUsed(CacheClient client)
    {
        fixture.assertSources(client, Map.of(ReadSource.NON_LOCAL_HIT, 10L));
    }

    private void assertNotUsed(TestingWorker other, CacheClient client)
    {
        fixture.assertBypassed(client, BypassCause.DISCONNECTED, 10);
        assertThat(other.acceptedConnections()).isPositive();
        assertThat(other.readRequests).isEmpty();
    }

    @Test
    void testSameSecret()
            throws Exception
    {
        assertUsed(read(fixture.worker("other", Optional.of("secret")), Optional.of("secret")));
    }

    @Test
    void testWrongSecret()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.of("another"));
        assertNotUsed(other, read(other, Optional.of("secret")));
    }

    @Test
    void testWorkerThatDoesNotProve()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.of("secret"));
        other.proves = false;
        assertNotUsed(other, read(other, Optional.of("secret")));
    }

    @Test
    void testWorkerWithoutSecret()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.empty());
        assertNotUsed(other, read(other, Optional.of("secret")));
    }

    @Test
    void testClientWithoutSecret()
            throws Exception
    {
        // it uses no TCP, and the worker of this host, at whose socket it looks, is not the one that the ring expects
        TestingWorker other = fixture.worker("other", Optional.of("secret"));
        fixture.assertBypassed(read(other, Optional.empty()), BypassCause.DISCONNECTED, 10);
        assertThat(other.acceptedConnections()).isZero();
    }

    /// Another process that listens at the path of the Unix socket is not used.
    @Test
    void testLocalWorkerThatDoesNotProve()
            throws Exception
    {
        fixture.local.proves = false;
        fixture.listen();
        CacheClient client = fixture.client(PATIENT, CacheClientConfig.Limits.DEFAULT, Optional.of("secret"));
        Await.until("the handshake is refused", () ->
                client.local().problem().filter(problem -> problem.contains("does not prove that it knows the shared secret")).isPresent());
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 10);
    }

    @Test
    void testOtherVersion()
            throws Exception
    {
        fixture.local.version = Message.MAX_VERSION + 1;
        fixture.listen();
        CacheClient client = fixture.client();
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 10);
        assertThat(client.local().problem().orElseThrow()).contains("speaks protocol version %d, this client %d to %d: install the same release on both".formatted(
                Message.MAX_VERSION + 1, Message.MIN_VERSION, Message.MAX_VERSION));
    }

    @Test
    void testSocketThatIsNone()
            throws Exception
    {
        Files.createFile(fixture.socket);
        CacheClient client = fixture.client();
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 10);
        assertThat(client.local().problem().orElseThrow()).contains("no cache worker serves on");
        Files.delete(fixture.socket);
    }

    @Test
    void testReaderWaitsForTheFirstConnection()
            throws Exception
    {
        // without waiting for anything
        fixture.listen();
        CacheClient client = fixture.client();
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 10L));
    }

    @Test
    void testHostWithoutName()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(
                fixture.local, Optional.empty(),
                other, Optional.of(new WorkerAddress("no-such-host.invalid", 1))));
        fixture.listen();
        // looking for a name takes its time where there is no network
        CacheClient client = fixture.connected(fixture.client(new Timeouts(10_000, 10_000, 100, 200)));
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), fixture.chunkOf(ring, other), 10);
        assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isEqualTo(10);
        assertThat(fixture.observer.bypassBytes().keySet()).isSubsetOf(BypassCause.DISCONNECTED, BypassCause.TIMEOUT);
    }

    @Test
    void testHostByName()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(
                fixture.local, Optional.empty(),
                other, Optional.of(new WorkerAddress("localhost", other.listenTcp().port()))));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client());
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), fixture.chunkOf(ring, other), 10);
        assertUsed(client);
    }
}
