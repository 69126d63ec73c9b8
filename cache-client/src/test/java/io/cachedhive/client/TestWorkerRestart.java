package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.HASTY;
import static io.cachedhive.client.ReadFixture.NEVER_MILLIS;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers go and come back.
 */
@Timeout(300)
@Tag("slow")
class TestWorkerRestart
{
    private static final int ROUNDS = 3;
    // that long after a worker has returned, as the architecture page says
    private static final Duration USED_AGAIN = Duration.ofSeconds(2);
    // as users have them, but for the time that a worker has for an answer
    private static final Timeouts DEFAULT = new Timeouts(PATIENT.silenceMillis(), PATIENT.fetchMillis(), Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis());

    private ReadFixture fixture;
    private TestingWorker local;

    @BeforeEach
    void setUp()
            throws IOException
    {
        fixture = new ReadFixture();
        local = fixture.local;
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        fixture.close();
    }

    @Test
    void testLocalWorker()
            throws Exception
    {
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(DEFAULT));
        CachedFile file = fixture.open(client);
        for (int i = 0; i < ROUNDS; i++) {
            local.share(fixture.file, 0);
            InMemoryBlocks dead = local.memory;
            long ramBytes = fixture.observer.bytes(ReadSource.RAM_HIT);
            fixture.assertReads(file, 0, 10);
            assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(ramBytes + 10);

            local.stop();
            // its memory is the host's again, also when nobody reads
            Await.until("unmapped", () -> dead.mappings() == 0);
            fixture.assertReads(file, 0, 10);
            assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.NO_WORKER, 10L * (i + 1)));
            assertThat(client.local().connected()).isFalse();
            assertThat(client.local().id()).contains(local.id());
            assertThat(client.local().problem().orElseThrow()).contains("start it");

            local.listen(fixture.socket);
            Await.until("used again", () -> client.local().connected());
            fixture.assertReads(file, 0, 10);
            assertThat(client.local().problem()).isEmpty();
            assertThat(client.local().instance()).contains(local.memory.instance());
            assertThat(local.memory.mappings()).isEqualTo(1);
        }
    }

    /**
     * As users have the time-outs. The clock stands still but for the two seconds.
     */
    @Test
    void testUsedAgainWithinTwoSeconds()
            throws Exception
    {
        AtomicLong nanos = new AtomicLong();
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(DEFAULT, CacheClientConfig.Limits.DEFAULT, ReadFixture.SECRET, nanos::get));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        fixture.awaitHit(file, position, 10);

        local.stop();
        other.stop();
        // the first attempts to connect again are in vain
        Await.until("noticed", () -> {
            fixture.assertReads(file, position, 10);
            return client.local().problem().isPresent() && !client.local().connected() && fixture.observer.bytes(ReadSource.BYPASS) > 0;
        });
        local.listen(fixture.socket);
        other.listenTcp();
        nanos.addAndGet(USED_AGAIN.toNanos());
        Await.until("the worker of this host is used again", () -> client.local().connected());
        fixture.awaitHit(file, position, 10);
    }

    /**
     * A breaker that is open lets a worker in again that answers.
     */
    @Test
    void testUsedAgainWithinTwoSecondsAfterSilence()
            throws Exception
    {
        AtomicLong nanos = new AtomicLong();
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        Timeouts hasty = new Timeouts(HASTY.silenceMillis(), HASTY.fetchMillis(), Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis(), NEVER_MILLIS);
        CacheClient client = fixture.client(hasty, CacheClientConfig.Limits.DEFAULT, ReadFixture.SECRET, nanos::get);
        Await.until("connected", () -> {
            // an attempt that was too slow is made again
            nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(hasty.reconnectMillis()));
            return client.local().connected();
        });
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        other.reads = (_, _) -> {};
        Await.until("the breaker is open", () -> {
            // readers wait by the clock
            CompletableFuture<Void> read = CompletableFuture.runAsync(() -> {
                try {
                    fixture.assertReads(file, position, 10);
                }
                catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            Await.until("read", () -> {
                nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(HASTY.silenceMillis()));
                return read.isDone();
            });
            read.join();
            return fixture.observer.bypassBytes().containsKey(BypassCause.BREAKER_OPEN);
        });
        other.reads = TestingWorker.Exchange::answerAll;
        nanos.addAndGet(USED_AGAIN.toNanos());
        fixture.awaitHit(file, position, 10);
    }

    @Test
    void testConnectionAloneIsLost()
            throws Exception
    {
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client());
        local.share(fixture.file, 0);
        local.disconnectAll();
        Await.until("reconnected", () -> client.local().connected() && local.acceptedConnections() == 2);
        // the same memory, without mapping it again
        assertThat(local.memory.mappings()).isEqualTo(1);
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 10L));
    }

    @Test
    void testMemoryThatIsGivenUp()
            throws Exception
    {
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client());
        local.share(fixture.file, 0);
        for (int i = 1; i <= ROUNDS; i++) {
            local.memory.setState(MemoryState.DEAD);
            Await.until("unmapped", () -> local.memory.mappings() == 0);
            // over the socket, then
            fixture.assertReads(fixture.open(client), 0, 10);
            assertThat(local.readRequests).hasSize(i).allMatch(Read::inline);
            local.memory.setState(MemoryState.LIVE);
            Await.until("mapped again", () -> local.memory.mappings() == 1);
        }
    }

    @Test
    void testOtherWorker()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(DEFAULT));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        for (int i = 0; i < ROUNDS; i++) {
            long hits = hitBytes();
            fixture.assertReads(file, position, BLOCK);
            assertThat(hitBytes()).isEqualTo(hits + BLOCK);
            other.stop();
            Await.until("noticed", () -> {
                long bypass = fixture.observer.bytes(ReadSource.BYPASS);
                fixture.assertReads(file, position, 10);
                return fixture.observer.bytes(ReadSource.BYPASS) > bypass;
            });
            other.listenTcp();
            fixture.awaitHit(file, position, 10);
        }
        assertThat(fixture.observer.bypassBytes().keySet()).contains(BypassCause.DISCONNECTED).isSubsetOf(BypassCause.DISCONNECTED, BypassCause.HEDGED);
    }

    /**
     * Also of those that a busy machine made slow enough to be hedged.
     */
    private long hitBytes()
    {
        return fixture.observer.bytes(ReadSource.NON_LOCAL_HIT) + fixture.observer.bypassBytes().getOrDefault(BypassCause.HEDGED, 0L);
    }

    @Test
    void testWorkerThatAcceptsAndSaysNothing()
            throws Exception
    {
        local.answersHello = false;
        fixture.listen();
        CacheClient client = fixture.client(HASTY);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 10);
        Await.until("given up", () -> client.local().problem().orElse("").contains("did not finish the handshake in time"));
        fixture.assertReads(file, 0, 10);
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 20);
        local.answersHello = true;
        Await.until("used", () -> client.local().connected());
    }

    @Test
    void testReadersDoNotWaitForFurtherAttempts()
            throws Exception
    {
        local.answersHello = false;
        fixture.listen();
        // who waits for the second attempt waits for longer than this test may take
        CacheClient client = fixture.client(new Timeouts(NEVER_MILLIS, NEVER_MILLIS, HASTY.reconnectMillis(), HASTY.probeMillis()));
        CachedFile file = fixture.open(client);
        Await.until("the first attempt is under way", () -> local.openConnections() == 1);
        local.disconnectAll();
        Await.until("the second attempt is under way", () -> local.acceptedConnections() == 2 && local.openConnections() == 1);
        for (int i = 0; i < 10; i++) {
            fixture.assertReads(file, 0, 10);
        }
        assertThat(local.acceptedConnections()).as("attempts").isEqualTo(2);
        assertThat(local.openConnections()).as("attempts that have not ended").isEqualTo(1);
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 100);
    }

    @Test
    void testWorkerThatIsGoneWithoutAWord()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(
                new Timeouts(HASTY.silenceMillis(), HASTY.fetchMillis(), HASTY.reconnectMillis(), HASTY.probeMillis(), NEVER_MILLIS)));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        fixture.awaitHit(file, position, 10);
        long bypassed = fixture.observer.bytes(ReadSource.BYPASS);
        int accepted = other.acceptedConnections();
        other.reads = (_, _) -> {};
        other.answersPings = false;
        other.answersHello = false;
        for (int i = 0; i < 3; i++) {
            fixture.assertReads(file, position, 10);
        }
        // the connection is given up
        Await.until("reconnects", () -> other.acceptedConnections() >= accepted + 2);
        fixture.assertReads(file, position, 10);
        assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isEqualTo(bypassed + 40);

        other.answersHello = true;
        other.reads = TestingWorker.Exchange::answerAll;
        fixture.awaitHit(file, position, 10);
    }
}
