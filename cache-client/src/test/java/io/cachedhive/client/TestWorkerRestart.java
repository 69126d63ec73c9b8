package io.cachedhive.client;

import io.cachedhive.client.connection.Timeouts;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Workers go and come back.
 */
class TestWorkerRestart
{
    private static final Duration LIMIT = Duration.ofSeconds(2);

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
        // with the time-outs that users have
        CacheClient client = fixture.connected(fixture.client(Timeouts.DEFAULT));
        CachedFile file = fixture.open(client);
        for (int i = 0; i < 3; i++) {
            local.share(fixture.file, 0);
            InMemoryBlocks dead = local.memory;
            long ramBytes = fixture.observer.bytes(ReadSource.RAM_HIT);
            fixture.assertReads(file, 0, 10);
            assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(ramBytes + 10);

            local.stop();
            // its memory is the host's again, also when nobody reads
            assertThat(Await.within(Duration.ofMillis(1500), "unmapped", () -> dead.mappings() == 0)).isPositive();
            fixture.assertReads(file, 0, 10);
            assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.NO_WORKER, 10L * (i + 1)));
            assertThat(client.local().connected()).isFalse();
            assertThat(client.local().id()).contains(local.id());
            assertThat(client.local().problem().orElseThrow()).contains("start it");

            local.listen(fixture.socket);
            Await.within(LIMIT, "used again", () -> client.local().connected());
            fixture.assertReads(file, 0, 10);
            assertThat(client.local().problem()).isEmpty();
            assertThat(client.local().instance()).contains(local.memory.instance());
            assertThat(local.memory.mappings()).isEqualTo(1);
        }
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
        local.memory.setState(MemoryState.DEAD);
        Await.within(Duration.ofMillis(1500), "unmapped", () -> local.memory.mappings() == 0);
        // over the socket, then
        fixture.assertReads(fixture.open(client), 0, 10);
        assertThat(local.readRequests).hasSize(1).allMatch(Read::inline);
        local.memory.setState(MemoryState.LIVE);
        Await.until("mapped again", () -> local.memory.mappings() == 1);
    }

    @Test
    void testOtherWorker()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.empty());
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(Timeouts.DEFAULT));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        long position = fixture.chunkOf(ring, other);
        for (int i = 0; i < 3; i++) {
            long hits = fixture.observer.bytes(ReadSource.NON_LOCAL_HIT);
            fixture.assertReads(file, position, BLOCK);
            assertThat(fixture.observer.bytes(ReadSource.NON_LOCAL_HIT)).isEqualTo(hits + BLOCK);
            other.stop();
            Await.until("noticed", () -> {
                try {
                    long bypass = fixture.observer.bytes(ReadSource.BYPASS);
                    fixture.assertReads(file, position, 10);
                    return fixture.observer.bytes(ReadSource.BYPASS) > bypass;
                }
                catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            other.listenTcp();
            Await.within(LIMIT, "used again", () -> {
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
        assertThat(fixture.observer.bypassBytes().keySet()).containsExactly(BypassCause.DISCONNECTED);
    }

    @Test
    void testWorkerThatAcceptsAndSaysNothing()
            throws Exception
    {
        local.answersHello = false;
        fixture.listen();
        CacheClient client = fixture.client(ReadFixture.HASTY);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 10);
        Await.until("given up", () -> client.local().problem().orElse("").contains("did not finish the handshake in time"));
        // readers do not wait for the attempts that follow
        long start = System.nanoTime();
        for (int i = 0; i < 10; i++) {
            fixture.assertReads(file, 0, 10);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(1500));
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 110);
        local.answersHello = true;
        Await.within(LIMIT, "used", () -> client.local().connected());
    }

    @Test
    void testWorkerThatIsGoneWithoutAWord()
            throws Exception
    {
        TestingWorker other = fixture.worker("other", Optional.empty());
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(ReadFixture.HASTY));
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
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(1500));
        assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isEqualTo(130);

        other.answersHello = true;
        other.reads = TestingWorker.Exchange::answerAll;
        Await.within(LIMIT, "used again", () -> {
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
