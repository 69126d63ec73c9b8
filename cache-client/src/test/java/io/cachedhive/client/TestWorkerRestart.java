package io.cachedhive.client;

import io.cachedhive.client.connection.Timeouts;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.HASTY;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers go and come back.
 */
@Tag("slow")
class TestWorkerRestart
{
    // of the fastest of some rounds: a busy machine may make one slower, and hardly all
    private static final Duration USED_AGAIN = Duration.ofSeconds(2);
    private static final Duration UNMAPPED = Duration.ofMillis(1500);
    private static final int ROUNDS = 3;
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

    private static Duration timeUntil(String what, Await.Condition condition)
    {
        long start = System.nanoTime();
        Await.until(what, condition);
        return Duration.ofNanos(System.nanoTime() - start);
    }

    @Test
    void testLocalWorker()
            throws Exception
    {
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(DEFAULT));
        CachedFile file = fixture.open(client);
        List<Duration> unmapped = new ArrayList<>();
        List<Duration> usedAgain = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            local.share(fixture.file, 0);
            InMemoryBlocks dead = local.memory;
            long ramBytes = fixture.observer.bytes(ReadSource.RAM_HIT);
            fixture.assertReads(file, 0, 10);
            assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(ramBytes + 10);

            local.stop();
            // its memory is the host's again, also when nobody reads
            unmapped.add(timeUntil("unmapped", () -> dead.mappings() == 0));
            fixture.assertReads(file, 0, 10);
            assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.NO_WORKER, 10L * (i + 1)));
            assertThat(client.local().connected()).isFalse();
            assertThat(client.local().id()).contains(local.id());
            assertThat(client.local().problem().orElseThrow()).contains("start it");

            local.listen(fixture.socket);
            usedAgain.add(timeUntil("used again", () -> client.local().connected()));
            fixture.assertReads(file, 0, 10);
            assertThat(client.local().problem()).isEmpty();
            assertThat(client.local().instance()).contains(local.memory.instance());
            assertThat(local.memory.mappings()).isEqualTo(1);
        }
        assertThat(Collections.min(unmapped)).isPositive().isLessThan(UNMAPPED);
        assertThat(Collections.min(usedAgain)).isLessThan(USED_AGAIN);
    }

    @Test
    void testConnectionAloneIsLost()
            throws Exception
    {
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client());
        local.share(fixture.file, 0);
        local.disconnectAll();
        Await.until("connected anew", () -> client.local().connected() && local.acceptedConnections() == 2);
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
        List<Duration> unmapped = new ArrayList<>();
        for (int i = 1; i <= ROUNDS; i++) {
            local.memory.setState(MemoryState.DEAD);
            unmapped.add(timeUntil("unmapped", () -> local.memory.mappings() == 0));
            // over the socket, then
            fixture.assertReads(fixture.open(client), 0, 10);
            assertThat(local.readRequests).hasSize(i).allMatch(Read::inline);
            local.memory.setState(MemoryState.LIVE);
            Await.until("mapped again", () -> local.memory.mappings() == 1);
        }
        assertThat(Collections.min(unmapped)).isLessThan(UNMAPPED);
    }

    @Test
    void testOtherWorker()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.empty());
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(DEFAULT));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        List<Duration> usedAgain = new ArrayList<>();
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
            usedAgain.add(timeUntil("used again", () -> {
                long before = fixture.observer.bytes(ReadSource.NON_LOCAL_HIT);
                fixture.assertReads(file, position, 10);
                return fixture.observer.bytes(ReadSource.NON_LOCAL_HIT) > before;
            }));
        }
        assertThat(Collections.min(usedAgain)).isLessThan(USED_AGAIN);
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
        // readers do not wait for the attempts that follow
        long start = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            fixture.assertReads(file, 0, 10);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(10 * HASTY.silenceMillis() / 2));
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 110);
        local.answersHello = true;
        Await.until("used", () -> client.local().connected());
    }

    @Test
    void testWorkerThatIsGoneWithoutAWord()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.empty());
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(HASTY));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        fixture.assertReads(file, position, 10);
        other.reads = (_, _) -> {};
        other.answersPings = false;
        other.answersHello = false;
        for (int i = 0; i < 3; i++) {
            fixture.assertReads(file, position, 10);
        }
        assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.TIMEOUT, 30L));
        // the connection is given up, and nobody waits for another
        Await.until("connects anew", () -> other.acceptedConnections() >= 3);
        long start = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            fixture.assertReads(file, position, 10);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(10 * HASTY.silenceMillis() / 2));
        assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isEqualTo(130);

        other.answersHello = true;
        other.reads = TestingWorker.Exchange::answerAll;
        Await.until("used again", () -> {
            try {
                long before = fixture.observer.bytes(ReadSource.NON_LOCAL_HIT);
                fixture.assertReads(file, position, 10);
                return fixture.observer.bytes(ReadSource.NON_LOCAL_HIT) > before;
            }
            catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }
}
