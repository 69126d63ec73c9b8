package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FrameHeader;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.MessageType;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.ReadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

import static io.cachedhive.client.ReadFixture.BLOCK;
import static io.cachedhive.client.ReadFixture.BLOCKS;
import static io.cachedhive.client.ReadFixture.CHUNK;
import static io.cachedhive.client.ReadFixture.HASTY;
import static io.cachedhive.client.ReadFixture.NEVER_MILLIS;
import static io.cachedhive.client.ReadFixture.PATIENT;
import static io.cachedhive.client.ReadFixture.TABLE;
import static io.cachedhive.client.ReadFixture.TAIL;
import static io.cachedhive.protocol.checksum.PieceChecksums.PIECE_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Where bytes come from when all is well, and when anything is not.
 */
@Tag("slow")
class TestCacheClient
{
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

    private CacheClient connectedClient()
            throws IOException
    {
        return connectedClient(PATIENT);
    }

    private CacheClient connectedClient(Timeouts timeouts)
            throws IOException
    {
        fixture.listen();
        return fixture.connected(fixture.client(timeouts));
    }

    @Test
    void testSharedMemory()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 0, 1, 2);
        CachedFile file = fixture.open(client);

        fixture.assertReads(file, 0, 10);
        fixture.assertReads(file, BLOCK - 5, BLOCK + 10);
        fixture.assertReads(file, 3 * BLOCK - 1, 1);

        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, BLOCK + 21L));
        assertThat(fixture.observer.requests()).isEqualTo(3);
        assertThat(local.readRequests).isEmpty();
        assertThat(fixture.input.reads()).isEmpty();
        // the worker learns which blocks are used
        Await.untilAsserted("the hits are reported", () -> assertThat(local.hits).contains(digest(0), digest(1), digest(2)));
    }

    /// That it was in time makes no hit of it, and the worker waits to hear of it.
    @Test
    void testFetchedAheadIsARemoteRead()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 0, 1, 2);
        local.memory.setFetchedAhead(fixture.file.id().block(1), true);
        CachedFile file = fixture.open(client);

        fixture.assertReads(file, BLOCK - 5, BLOCK + 10);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 10L, ReadSource.REMOTE_READ, (long) BLOCK));
        assertThat(fixture.observer.requests()).isEqualTo(1);
        assertThat(local.readRequests).isEmpty();
        Await.untilAsserted("the hits are reported", () -> assertThat(local.hits).contains(digest(1)));

        local.memory.setFetchedAhead(fixture.file.id().block(1), false);
        fixture.assertReads(file, BLOCK, 10);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 20L, ReadSource.REMOTE_READ, (long) BLOCK));
    }

    private Digest128 digest(int block)
    {
        return fixture.file.id().block(block).digest();
    }

    @ParameterizedTest
    @EnumSource
    void testOwnWorker(Source source)
            throws Exception
    {
        CacheClient client = connectedClient();
        local.source = source;
        CachedFile file = fixture.open(client);

        // from the middle of a block to the shorter last one
        int start = 5 * BLOCK + 17;
        fixture.assertReads(file, start, fixture.bytes.length - start);

        ReadSource expected = switch (source) {
            case RAM -> ReadSource.RAM_HIT;
            case SSD -> ReadSource.SSD_HIT;
            case REMOTE -> ReadSource.REMOTE_READ;
            // the own worker took it from its former owner
            case PEER -> ReadSource.NON_LOCAL_HIT;
        };
        fixture.assertSources(client, Map.of(expected, (long) fixture.bytes.length - start));
        assertThat(local.readRequests).allSatisfy(read -> {
            assertThat(read.inline()).isFalse();
            assertThat(read.mayFill()).isTrue();
            assertThat(read.mayLease()).isTrue();
            assertThat(read.table()).isEqualTo(TABLE);
            assertThat(read.file()).isEqualTo(fixture.file);
            assertThat(read.epoch()).isEqualTo(new RingEpoch(0));
        });
        assertThat(local.readRequests).extracting(ReadMessage.Read::firstBlock).containsExactly(5);
        assertThat(local.readRequests).extracting(ReadMessage.Read::blockCount).containsExactly(BLOCKS - 5);
        assertThat(fixture.input.reads()).isEmpty();
        ReadFixture.assertIdle(client);
    }

    /**
     * As a worker answers whose blocks must not be seen in shared memory yet.
     */
    @Test
    void testOwnWorkerAnswersWithBytes()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.reads = (exchange, read) -> {
            assertThat(read.inline()).isFalse();
            for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                exchange.answerWithBytes(block, Source.REMOTE);
            }
        };
        CachedFile file = fixture.open(client);

        fixture.assertReads(file, 10, 3 * BLOCK);

        fixture.assertSources(client, Map.of(ReadSource.REMOTE_READ, 3L * BLOCK));
        assertThat(fixture.input.reads()).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testReadOfSeveralSources()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 1, 2, 5);
        local.reads = (exchange, read) -> {
            local.source = read.firstBlock() == 0 ? Source.SSD : Source.REMOTE;
            exchange.answerAll(read);
        };
        CachedFile file = fixture.open(client);

        fixture.assertReads(file, 10, 6 * BLOCK);

        // 0 from SSD, 1, 2 and 5 from shared memory, 3 and 4 and ten bytes of 6 from the origin
        assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(3 * BLOCK);
        assertThat(fixture.observer.totalBytes()).isEqualTo(6 * BLOCK);
        assertThat(fixture.observer.requests()).isEqualTo(1);
        assertThat(fixture.observer.requests(ReadSource.RAM_HIT)).isEqualTo(1);
        // neighbours in one request
        assertThat(local.readRequests).extracting(ReadMessage.Read::firstBlock).containsExactlyInAnyOrder(0, 3, 6);
        assertThat(local.readRequests).extracting(ReadMessage.Read::blockCount).containsExactlyInAnyOrder(1, 2, 1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testOwnWorkerWithoutSharedMemory()
            throws Exception
    {
        local.sharesMemory = false;
        CacheClient client = connectedClient();
        fixture.assertReads(fixture.open(client), 100, 3 * BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 3L * BLOCK));
        assertThat(local.readRequests).allMatch(ReadMessage.Read::inline);
        assertThat(client.local().problem()).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testSharedMemoryThatCannotBeMapped()
            throws Exception
    {
        fixture.listen();
        try (CacheClient client = CacheClient.start(
                new CacheClientConfig(fixture.socket, ReadFixture.identity(), CHUNK, CacheClientConfig.Limits.DEFAULT, PATIENT),
                path -> {
                    throw new IOException("cannot map " + path);
                },
                System::nanoTime)) {
            fixture.connected(client);
            fixture.assertReads(fixture.open(client), 0, BLOCK);
            fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, (long) BLOCK));
            assertThat(client.local().problem().orElseThrow()).contains("/dev/shm/local", "cannot map", "let Trino's user read the file");
        }
    }

    @ParameterizedTest
    @EnumSource
    void testOtherWorker(Source source)
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        other.source = source;
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);

        fixture.assertReads(file, fixture.chunkOf(ring, other) + 7, 2 * BLOCK);

        fixture.assertSources(client, Map.of(source == Source.REMOTE ? ReadSource.REMOTE_READ : ReadSource.NON_LOCAL_HIT, 2L * BLOCK));
        assertThat(local.readRequests).isEmpty();
        assertThat(other.readRequests).hasSize(1).allMatch(ReadMessage.Read::inline).allMatch(read -> read.epoch().equals(ring.epoch()));
        assertThat(other.acceptedConnections()).isEqualTo(1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testReadOverChunksOfSeveralOwners()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), 0, fixture.bytes.length);
        assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isPositive();
        assertThat(fixture.observer.bytes(ReadSource.NON_LOCAL_HIT)).isPositive();
        assertThat(fixture.observer.totalBytes()).isEqualTo(fixture.bytes.length);
        assertThat(fixture.observer.requests()).isEqualTo(1);
        assertThat(fixture.input.reads()).isEmpty();
    }

    @Test
    void testSharedMemoryComesBeforeTheOwner()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        long position = fixture.chunkOf(ring, other);
        local.share(fixture.file, (int) (position / BLOCK));
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), position, BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, (long) BLOCK));
        assertThat(other.readRequests).isEmpty();
    }

    @Test
    void testUnknownEpochMeansTheNewestRing()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        fixture.publish(Map.of(local, Optional.empty()));
        CacheClient client = connectedClient();
        Await.until("ring", () -> client.newestRing().isPresent());
        // the news of this ring have not come, and still it is used at once
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        fixture.assertReads(file, fixture.chunkOf(ring, other), BLOCK);
        assertThat(other.readRequests).hasSize(1);
        assertThat(client.newestRing()).contains(ring);
        assertThat(client.rings()).hasSize(2);

        CachedFile planned = fixture.open(client, Optional.of(new RingEpoch(12345)), true);
        fixture.assertReads(planned, fixture.chunkOf(ring, other), BLOCK);
        assertThat(other.readRequests).hasSize(2);
    }

    @Test
    void testRingsWithoutSharedMemory()
            throws Exception
    {
        local.sharesMemory = false;
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty()));
        CacheClient client = connectedClient();
        Await.until("ring", () -> client.newestRing().equals(Optional.of(ring)));
    }

    @Test
    void testOwnerWithoutAddress()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.empty()));
        CacheClient client = connectedClient();
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), fixture.chunkOf(ring, other), 100);
        fixture.assertBypassed(client, BypassCause.NO_ADDRESS, 100);
    }

    @Test
    void testAnotherWorkerAtTheOwnersAddress()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        TestingWorker stranger = fixture.worker("stranger");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(stranger.listenTcp())));
        CacheClient client = connectedClient();
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), fixture.chunkOf(ring, other), 100);
        fixture.assertBypassed(client, BypassCause.DISCONNECTED, 100);
        assertThat(stranger.readRequests).isEmpty();
    }

    @Test
    void testNoWorker()
            throws Exception
    {
        CacheClient client = fixture.client();
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 5, 3 * BLOCK);
        fixture.assertBypassed(client, BypassCause.NO_WORKER, 3 * BLOCK);
        assertThat(fixture.input.reads()).containsExactly(new TestingInput.Read(5, 3 * BLOCK));
        LocalWorker state = client.local();
        assertThat(state.connected()).isFalse();
        assertThat(state.id()).isEmpty();
        assertThat(state.problem().orElseThrow()).contains(fixture.socket.toString(), "start it");
    }

    @Test
    void testSilentWorker()
            throws Exception
    {
        // probes come when the test moves the clock
        AtomicLong later = new AtomicLong();
        long probeMillis = TimeUnit.MINUTES.toMillis(4);
        Timeouts hasty = new Timeouts(HASTY.silenceMillis(), HASTY.fetchMillis(), HASTY.reconnectMillis(), probeMillis);
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(hasty, CacheClientConfig.Limits.DEFAULT, ReadFixture.SECRET, () -> System.nanoTime() + later.get()));
        int accepted = local.acceptedConnections();
        local.reads = (_, _) -> {};
        local.answersPings = false;
        CachedFile file = fixture.open(client);
        for (int i = 0; i < 3; i++) {
            fixture.assertReads(file, 0, 100);
        }
        fixture.assertBypassed(client, BypassCause.TIMEOUT, 300);
        Await.until("asked", () -> local.readRequests.size() == 3);
        Await.until("cancelled", () -> local.cancelled.size() == 3);

        // whoever is silent three times in a row is not asked
        fixture.assertReads(file, 0, 100);
        assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.TIMEOUT, 300L, BypassCause.BREAKER_OPEN, 100L));
        assertThat(local.readRequests).hasSize(3);
        assertThat(client.local().problem().orElseThrow()).contains("does not answer");

        // until it answers a probe
        for (int i = 1; i <= 2; i++) {
            int pings = i;
            later.addAndGet(TimeUnit.MILLISECONDS.toNanos(probeMillis));
            Await.until("probed", () -> local.pings.get() == pings);
        }
        fixture.assertReads(file, 0, 100);
        assertThat(local.readRequests).hasSize(3);
        local.answersPings = true;
        local.reads = TestingWorker.Exchange::answerAll;
        later.addAndGet(TimeUnit.MILLISECONDS.toNanos(probeMillis));
        Await.until("used again", () -> client.local().problem().isEmpty());
        fixture.assertReads(file, 0, 100);
        assertThat(local.readRequests).hasSize(4);
        assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(100);
        assertThat(local.acceptedConnections()).isEqualTo(accepted);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFetchingMayTakeLonger()
            throws Exception
    {
        // only silence is to be short
        CacheClient client = connectedClient(new Timeouts(HASTY.silenceMillis(), NEVER_MILLIS, PATIENT.reconnectMillis(), PATIENT.probeMillis()));
        local.source = Source.REMOTE;
        CountDownLatch never = new CountDownLatch(1);
        local.reads = (exchange, read) -> {
            exchange.fetching();
            // longer than silence may take
            assertThat(never.await(HASTY.silenceMillis() * 3 / 2, TimeUnit.MILLISECONDS)).isFalse();
            exchange.answerAll(read);
        };
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 2 * BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.REMOTE_READ, 2L * BLOCK));

        // the origin is slow, not the worker
        assertThat(client.local().problem()).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFetchingForTooLong()
            throws Exception
    {
        // only a worker that reported that it fetches is given up within the time of a test
        CacheClient client = connectedClient(new Timeouts(NEVER_MILLIS, 100, PATIENT.reconnectMillis(), PATIENT.probeMillis()));
        local.reads = (exchange, _) -> exchange.fetching();
        CachedFile file = fixture.open(client);
        for (int i = 0; i < 3; i++) {
            fixture.assertReads(file, 0, 100);
        }
        fixture.assertBypassed(client, BypassCause.FETCH_TIMEOUT, 300);
        // the origin is slow, not the worker
        assertThat(client.local().problem()).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testLateAnswersAreNobodys()
            throws Exception
    {
        CacheClient client = connectedClient(HASTY);
        local.sharesMemory = false;
        CountDownLatch late = new CountDownLatch(1);
        local.reads = (exchange, read) -> {
            late.await();
            exchange.answerAll(read);
        };
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 3 * BLOCK);
        fixture.assertBypassed(client, BypassCause.TIMEOUT, 3 * BLOCK);
        int accepted = local.acceptedConnections();
        late.countDown();
        local.reads = TestingWorker.Exchange::answerAll;
        // on a busy machine more than one answer is late
        Await.untilAsserted("a hit", () -> {
            fixture.assertReads(file, 0, BLOCK);
            assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isPositive();
        });
        assertThat(local.acceptedConnections()).isEqualTo(accepted);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testBytesThatComeTooLateGoNowhere()
            throws Exception
    {
        CacheClient client = connectedClient(HASTY);
        local.sharesMemory = false;
        CountDownLatch late = new CountDownLatch(1);
        byte[] wrong = new byte[BLOCK];
        Arrays.fill(wrong, (byte) 0x55);
        local.reads = (exchange, read) -> {
            ByteBuffer frame = exchange.frame(exchange.part(read.firstBlock(), Source.RAM, 1, wrong, 0, BLOCK));
            byte[] bytes = new byte[frame.remaining()];
            frame.get(bytes);
            int sent = bytes.length / 2;
            exchange.write(Arrays.copyOf(bytes, sent));
            // in drops, which must not look like a worker that answers
            while (!late.await(10, TimeUnit.MILLISECONDS)) {
                exchange.write(new byte[] {bytes[sent]});
                sent++;
            }
            exchange.write(Arrays.copyOfRange(bytes, sent, bytes.length));
        };
        CachedFile file = fixture.open(client);
        byte[] target = new byte[BLOCK];
        file.readFully(0, target, 0, BLOCK);
        fixture.assertBypassed(client, BypassCause.TIMEOUT, BLOCK);
        byte[] expected = Arrays.copyOf(fixture.bytes, BLOCK);
        assertThat(target).isEqualTo(expected);

        local.reads = TestingWorker.Exchange::answerAll;
        late.countDown();
        // its answer comes after the rest of the other one, on a slow machine later than a reader waits for it
        Await.untilAsserted("a hit", () -> {
            fixture.assertReads(file, BLOCK, BLOCK);
            assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isPositive();
        });
        assertThat(local.acceptedConnections()).isEqualTo(1);
        assertThat(target).isEqualTo(expected);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testGarbage()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.reads = (exchange, _) -> exchange.write(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 100);
        fixture.assertBypassed(client, BypassCause.PROTOCOL_ERROR, 100);

        local.reads = TestingWorker.Exchange::answerAll;
        Await.until("reconnected", () -> client.local().connected() && local.acceptedConnections() == 2);
        fixture.assertReads(file, 0, 100);
        assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(100);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testAnswersThatWereNotAskedFor()
            throws Exception
    {
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client);
        List<TestingWorker.Reads> answers = List.of(
                // a block that was not asked for, one twice, bytes instead of frames, another kind, an error
                (exchange, _) -> exchange.answer(3),
                (exchange, _) -> {
                    exchange.answer(0);
                    exchange.answer(0);
                },
                (exchange, _) -> exchange.send(new StatusMessage.Pong(local.id(), new Digest128(1, 1), "1", "RUNNING", 1, Optional.empty(), 1, 1, new RingEpoch(1), 1)),
                (exchange, _) -> exchange.send(new ControlMessage.Error("go away")));
        for (TestingWorker.Reads answer : answers) {
            local.reads = answer;
            fixture.assertReads(file, 0, 2 * BLOCK);
        }
        fixture.assertBypassed(client, BypassCause.PROTOCOL_ERROR, answers.size() * 2 * BLOCK);
        assertThat(local.acceptedConnections()).isEqualTo(1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testConnectionLostDuringRead()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        other.reads = (exchange, read) -> {
            exchange.answer(read.firstBlock());
            exchange.disconnect();
        };
        long position = fixture.chunkOf(ring, other);
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), position, 2 * BLOCK);
        fixture.assertBypassed(client, BypassCause.DISCONNECTED, 2 * BLOCK);
        // one request, as plain Hive would have made
        assertThat(fixture.input.reads()).containsExactly(new TestingInput.Read(position, 2 * BLOCK));
        ReadFixture.assertIdle(client);
    }

    @ParameterizedTest
    @EnumSource
    void testNo(NoCause cause)
            throws Exception
    {
        CacheClient client = connectedClient();
        local.reads = (exchange, read) -> {
            exchange.answer(read.firstBlock());
            exchange.no(read.firstBlock() + 1, cause);
        };
        fixture.assertReads(fixture.open(client, Optional.empty(), false), 10, 2 * BLOCK);
        fixture.assertBypassed(client, BypassCause.of(cause), 2 * BLOCK);
        assertThat(local.readRequests).noneMatch(ReadMessage.Read::mayFill).noneMatch(ReadMessage.Read::mayLease);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testReplacedFile()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 0);
        local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.VERSION_GONE);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, BLOCK, 10);
        // whoever has seen the new state does not go back to the old one
        fixture.assertReads(file, 0, 10);
        fixture.assertBypassed(client, BypassCause.VERSION_GONE, 20);
        Await.until("revalidated", () -> local.revalidations.size() == 1);
    }

    @Test
    void testBytesThatDoNotVerify()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        long position = fixture.chunkOf(ring, other);
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        // a flipped bit in each piece of a read of several: none reaches the reader
        int length = 5 * PIECE_BYTES / 2;
        List<Integer> places = List.of(0, PIECE_BYTES / 2 - 1, PIECE_BYTES / 2, PIECE_BYTES, BLOCK - PIECE_BYTES / 2 - 1);
        for (int place : places) {
            other.reads = (exchange, read) -> {
                if (read.firstBlock() == position / BLOCK) {
                    exchange.answerFlipped(read.firstBlock(), place);
                    exchange.answer(read.firstBlock() + 1);
                }
            };
            fixture.assertReads(file, position + PIECE_BYTES / 2, length);
        }
        fixture.assertBypassed(client, BypassCause.CORRUPT, (long) places.size() * length);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testBytesThatWereNotRequested()
            throws Exception
    {
        // of which all of a block would be requested
        local.wantsGuests = false;
        TestingWorker other = fixture.worker("other");
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        long position = fixture.chunkOf(ring, other);
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        byte[] block = other.block(fixture.file, (int) (position / BLOCK));
        // right bytes with right checksums, but others than asked for: all, fewer, more, moved, none
        List<int[]> parts = List.of(
                new int[] {0, BLOCK},
                new int[] {PIECE_BYTES - 10, 19},
                new int[] {PIECE_BYTES - 10, 21},
                new int[] {PIECE_BYTES - 11, 20},
                new int[] {PIECE_BYTES - 10, 0});
        for (int[] part : parts) {
            other.reads = (exchange, read) -> exchange.send(exchange.part(read.firstBlock(), Source.RAM, TestingWorker.ETAG, block, part[0], part[1]));
            fixture.assertReads(file, position + PIECE_BYTES - 10, 20);
        }
        fixture.assertBypassed(client, BypassCause.PROTOCOL_ERROR, parts.size() * 20L);
        assertThat(other.readRequests).extracting(ReadMessage.Read::range)
                .containsOnly(new ReadMessage.Range((int) (position / BLOCK), 1, PIECE_BYTES - 10, BLOCK - PIECE_BYTES - 10));
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFrameThatIsGone()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.reads = (exchange, read) -> {
            if (read.inline()) {
                exchange.answerAll(read);
                return;
            }
            exchange.answer(read.firstBlock());
            exchange.send(new BlockFrame(read.firstBlock() + 1, Source.SSD, TestingWorker.ETAG, BLOCK, 999, 0, 1));
            exchange.answer(read.firstBlock() + 2);
        };
        fixture.assertReads(fixture.open(client), BLOCK / 2, 2 * BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 2L * BLOCK));
        // once more, and only that one
        assertThat(local.readRequests).hasSize(2);
        assertThat(local.readRequests).filteredOn(ReadMessage.Read::inline).extracting(ReadMessage.Read::firstBlock).containsExactly(1);

        local.reads = (exchange, read) -> {
            if (read.inline()) {
                exchange.answerFlipped(read.firstBlock(), 0);
            }
            else {
                exchange.send(new BlockFrame(read.firstBlock(), Source.RAM, TestingWorker.ETAG, BLOCK, 999, 0, 1));
            }
        };
        fixture.assertReads(fixture.open(client), 0, 10);
        assertThat(fixture.observer.bypassBytes()).isEqualTo(Map.of(BypassCause.CORRUPT, 10L));
        ReadFixture.assertIdle(client);
    }

    @Test
    void testTwoStatesOfAFile()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        other.etagDigest = 43;
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        fixture.assertReads(file, fixture.chunkOf(ring, local), BLOCK);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, (long) BLOCK));

        // the origin is of no help: it has one of the two states, and its bytes do not show which
        assertThatThrownBy(() -> file.readFully(0, new byte[fixture.bytes.length], 0, fixture.bytes.length))
                .isInstanceOf(FileReplacedException.class)
                .hasMessage("file s3://bucket/file was replaced while it was read: run the query again");
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, (long) BLOCK));
        assertThat(fixture.input.reads()).isEmpty();
        // those who gave blocks check theirs
        Await.until("revalidated", () -> local.revalidations.size() == 1 && other.revalidations.size() == 1);
        assertThat(other.revalidations.peek()).isEqualTo(new InvalidationMessage.Revalidate(0, fixture.file));
    }

    /// Nothing was delivered: the split has the state that the origin has, by one request for each read, and asks the cache no more.
    @Test
    void testTwoStatesInTheFirstRead()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        other.etagDigest = 43;
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client, Optional.of(ring.epoch()), true);
        fixture.assertReads(file, 0, fixture.bytes.length);
        fixture.assertBypassed(client, BypassCause.ETAG_CHANGED, fixture.bytes.length);
        assertThat(fixture.input.reads()).containsExactly(new TestingInput.Read(0, fixture.bytes.length));
        Await.until("revalidated", () -> local.revalidations.size() == 1 && other.revalidations.size() == 1);

        int asked = local.readRequests.size();
        fixture.assertReads(file, fixture.chunkOf(ring, local), BLOCK);
        assertThat(local.readRequests).hasSize(asked);
        assertThat(fixture.input.stateRequests()).isZero();
    }

    @Test
    void testTwoStatesOfAFileInSharedMemory()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 0);
        local.etagDigest = 43;
        local.share(fixture.file, 1);
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 2 * BLOCK);
        fixture.assertBypassed(client, BypassCause.ETAG_CHANGED, 2 * BLOCK);
        Await.until("revalidated", () -> local.revalidations.size() == 1);
    }

    @Test
    void testFillLease()
            throws Exception
    {
        // leases are gathered until all are there: the time does not pass
        fixture.listen();
        CacheClient client = fixture.connected(fixture.client(PATIENT, CacheClientConfig.Limits.DEFAULT, ReadFixture.SECRET, () -> 0));
        local.originStatus = OriginStatus.UNKNOWN;
        local.reads = (exchange, read) -> {
            for (int block = read.firstBlock(); block < read.firstBlock() + read.blockCount(); block++) {
                exchange.lease(block);
            }
        };
        CachedFile file = fixture.open(client);
        int start = (BLOCKS - 3) * BLOCK + 100;
        fixture.assertReads(file, start, fixture.bytes.length - start - 1);

        fixture.assertSources(client, Map.of(ReadSource.REMOTE_READ, (long) fixture.bytes.length - start - 1));
        Await.until("filled", () -> local.fills.size() == 3);
        // neighbours in one request to the origin, as whole blocks, and one look whether the file is still the same
        assertThat(fixture.input.reads()).containsExactly(new TestingInput.Read((BLOCKS - 3) * BLOCK, 2 * BLOCK + TAIL));
        assertThat(fixture.input.stateRequests()).isEqualTo(1);
        List<Fill> fills = new ArrayList<>(local.fills);
        for (int i = 0; i < 3; i++) {
            Fill fill = fills.get(i);
            byte[] block = local.block(fixture.file, BLOCKS - 3 + i);
            CRC32C checksum = new CRC32C();
            checksum.update(block);
            assertThat(fill.lease()).isEqualTo(i + 1);
            assertThat(fill.payload()).isEqualTo(ByteBuffer.wrap(block));
            assertThat(fill.checksum()).isEqualTo((int) checksum.getValue());
            assertThat(fill.observedLength()).isEqualTo(fixture.file.length());
            assertThat(fill.observedLastModifiedMillis()).isEqualTo(fixture.file.lastModifiedMillis());
        }
        assertThat(local.releasedLeases).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFillLeaseOfAnotherWorker()
            throws Exception
    {
        TestingWorker other = fixture.worker("other");
        other.reads = (exchange, read) -> exchange.lease(read.firstBlock());
        PublishedRing ring = fixture.publish(Map.of(local, Optional.empty(), other, Optional.of(other.listenTcp())));
        CacheClient client = connectedClient();
        fixture.assertReads(fixture.open(client, Optional.of(ring.epoch()), true), fixture.chunkOf(ring, other) + 5, 10);
        fixture.assertSources(client, Map.of(ReadSource.REMOTE_READ, 10L));
        Await.until("filled", () -> other.fills.size() == 1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFillLeaseOfAReplacedFile()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.reads = (exchange, read) -> exchange.lease(read.firstBlock());
        CachedFile file = fixture.open(client);
        fixture.input.replace(fixture.bytes, new FileState(fixture.file.length(), fixture.file.lastModifiedMillis() + 1000));
        fixture.assertReads(file, 0, 10);
        fixture.assertBypassed(client, BypassCause.VERSION_GONE, 10);
        Await.until("released", () -> local.releasedLeases.size() == 1);
        assertThat(local.fills).isEmpty();
        ReadFixture.assertIdle(client);
    }

    @Test
    void testFillLeaseWhenTheOriginFails()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.reads = (exchange, read) -> exchange.lease(read.firstBlock());
        CachedFile file = fixture.open(client);
        fixture.input.fail(new IOException("403 forbidden"));
        assertThatThrownBy(() -> file.readFully(0, new byte[10], 0, 10)).isInstanceOf(IOException.class).hasMessage("403 forbidden");
        Await.until("released", () -> local.releasedLeases.size() == 1);
        // what failed is not counted
        fixture.assertSources(client, Map.of());
        ReadFixture.assertIdle(client);
    }

    @Test
    void testOfferedBlocksDoNotMixWithFetchedOnes()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 0);
        local.reads = (exchange, read) -> exchange.lease(read.firstBlock());
        fixture.assertReads(fixture.open(client), 0, 2 * BLOCK);
        fixture.assertBypassed(client, BypassCause.ETAG_CHANGED, 2 * BLOCK);

        // without an ETag they are of a kind
        local.etagDigest = ETags.NONE;
        local.share(fixture.file, 0);
        fixture.assertReads(fixture.open(client), 0, 2 * BLOCK);
        assertThat(fixture.observer.bytes(ReadSource.RAM_HIT)).isEqualTo(BLOCK);
        assertThat(fixture.observer.bytes(ReadSource.REMOTE_READ)).isEqualTo(BLOCK);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testLeaseThatComesTooLateIsGivenBack()
            throws Exception
    {
        CacheClient client = connectedClient(HASTY);
        CountDownLatch late = new CountDownLatch(1);
        local.reads = (exchange, read) -> {
            late.await();
            exchange.lease(read.firstBlock());
        };
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertBypassed(client, BypassCause.TIMEOUT, 10);
        late.countDown();
        Await.until("given back", () -> local.releasedLeases.size() == 1);
    }

    @Test
    void testOriginMismatch()
            throws Exception
    {
        local.originStatus = OriginStatus.MISMATCH;
        CacheClient client = connectedClient();
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertBypassed(client, BypassCause.ORIGIN_MISMATCH, 10);
        assertThat(local.readRequests).isEmpty();
        assertThat(client.local().connected()).isTrue();
        assertThat(client.local().problem().orElseThrow()).contains(
                "origin default",
                "another endpoint, region or isolation domain",
                "no isolation domain",
                "etc/origins/default.properties",
                "agree");
    }

    @Test
    void testOriginUnknown()
            throws Exception
    {
        local.originStatus = OriginStatus.UNKNOWN;
        CacheClient client = connectedClient();
        assertThat(client.local().problem().orElseThrow()).contains("no origin default", "add etc/origins/default.properties");
    }

    @Test
    void testFillsAreBounded()
            throws Exception
    {
        fixture.listen();
        CacheClientConfig.Limits limits = new CacheClientConfig.Limits(BLOCK - 1, 100, 8 << 20, 1);
        CacheClient client = fixture.connected(fixture.client(PATIENT, limits, Optional.empty()));
        local.reads = (exchange, read) -> exchange.lease(read.firstBlock());
        fixture.assertReads(fixture.open(client), 0, 10);
        fixture.assertBypassed(client, BypassCause.OVERLOADED, 10);
        Await.until("released", () -> local.releasedLeases.size() == 1);
        ReadFixture.assertIdle(client);
    }

    @Test
    void testLongReadIsSeveralRequests()
            throws Exception
    {
        fixture.listen();
        CacheClientConfig.Limits limits = new CacheClientConfig.Limits(64 << 20, 100, 3 * BLOCK, 1);
        CacheClient client = fixture.connected(fixture.client(PATIENT, limits, Optional.empty()));
        AtomicInteger open = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        local.reads = (exchange, read) -> {
            most.accumulateAndGet(open.incrementAndGet(), Math::max);
            open.decrementAndGet();
            exchange.answerAll(read);
        };
        fixture.assertReads(fixture.open(client), 100, fixture.bytes.length - 200);
        assertThat(local.readRequests).hasSize(4).allMatch(read -> read.blockCount() <= 3);
        assertThat(most.get()).isLessThanOrEqualTo(2);
    }

    @Test
    void testRanges()
            throws Exception
    {
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client);
        int length = fixture.bytes.length;
        fixture.assertReads(file, length - 1, 1);
        fixture.assertReads(file, length - TAIL, TAIL);
        int requests = local.readRequests.size();
        // nothing is nothing, wherever it is
        fixture.assertReads(file, 0, 0);
        fixture.assertReads(file, length, 0);
        assertThat(local.readRequests).hasSize(requests);
        assertThat(fixture.observer.requests()).isEqualTo(2);
        assertThatThrownBy(() -> file.readFully(length - 1, new byte[2], 0, 2)).isInstanceOf(EOFException.class).hasMessage("Read 1 of 2 requested bytes: s3://bucket/file");
        assertThatThrownBy(() -> file.readAhead(length - 1, new byte[2], 0, 2)).isInstanceOf(EOFException.class).hasMessage("Read 1 of 2 requested bytes: s3://bucket/file");
        assertThatThrownBy(() -> file.readFully(-1, new byte[2], 0, 2)).isInstanceOf(EOFException.class);
        assertThatThrownBy(() -> file.readFully(0, new byte[2], 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, TAIL + 1L));

        FileVersion empty = new FileVersion(ReadFixture.ORIGIN, "s3://bucket/empty", 0, 1);
        client.open(0, empty, new ReadScope(TABLE, Optional.empty(), true, fixture.observer), fixture.input).readFully(0, new byte[0], 0, 0);
    }

    @Test
    void testReadAheadCountsWhatIsUsed()
            throws Exception
    {
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client);
        byte[] buffer = new byte[2 * BLOCK];

        ReadAhead ahead = ReadFixture.served(file.readAhead(10, buffer, 0, 2 * BLOCK));
        assertThat(buffer).isEqualTo(fixture.expected(10, 2 * BLOCK));
        fixture.assertSources(client, Map.of());
        ahead.use(100);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 100L));

        local.share(fixture.file, 0);
        ReadFixture.served(file.readAhead(0, buffer, 0, BLOCK)).use(7);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 107L));

        local.reads = (exchange, read) -> exchange.no(read.firstBlock(), NoCause.ABSENT);
        StreamRead.Bypassed bypassed = (StreamRead.Bypassed) file.readAhead(3 * BLOCK, buffer, 0, BLOCK);
        assertThat(bypassed.cause()).isEqualTo(BypassCause.ABSENT);
        assertThat(fixture.input.reads()).as("requests that the stream makes by itself").isEmpty();
        file.deliverFromOrigin(3 * BLOCK, BLOCK, bypassed.cause(), bypassed.waitNanos(), true).use(5);
        fixture.assertSources(client, Map.of(ReadSource.RAM_HIT, 107L, ReadSource.BYPASS, 5L));
        assertThat(fixture.input.stateRequests()).isEqualTo(1);
    }

    @Test
    void testFilesOfOtherOriginsAreRefused()
    {
        CacheClient client = fixture.client();
        ReadScope scope = new ReadScope(TABLE, Optional.empty(), true, fixture.observer);
        assertThatThrownBy(() -> client.open(1, fixture.file, scope, fixture.input)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not in the list");
        FileVersion foreign = new FileVersion(OriginId.of("s3", Optional.empty(), Optional.empty()), "s3://bucket/file", 1, 1);
        assertThatThrownBy(() -> client.open(0, foreign, scope, fixture.input)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("another origin");
    }

    @Test
    void testClosedClientReadsFromTheOrigin()
            throws Exception
    {
        CacheClient client = connectedClient();
        local.share(fixture.file, 0);
        CachedFile file = fixture.open(client);
        client.close();
        fixture.assertReads(file, 0, 10);
        fixture.assertBypassed(client, BypassCause.CLOSED, 10);
        assertThat(local.memory.mappings()).isZero();
        Await.until("disconnected", () -> local.openConnections() == 0);
    }

    @Test
    void testUsageIsTold()
            throws Exception
    {
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client);
        fixture.assertReads(file, 0, 100);
        client.counters().addRequested(TABLE, 100);
        Await.untilAsserted("the usage is reported", () -> assertThat(local.totals()).isEqualTo(ReadFixture.counted(client)));
        assertThat(local.usage.get(TABLE)).containsEntry(CounterNames.REQUESTED_BYTES, 100L).containsEntry(CounterNames.RAM_HIT_BYTES, 100L);

        // an answer that is lost: told again, counted once
        local.answersUsage = false;
        fixture.assertReads(file, 0, 50);
        Await.until("reported", () -> local.usages.stream().anyMatch(batch -> batch.counters().getOrDefault(TABLE, Map.of()).getOrDefault(CounterNames.RAM_HIT_BYTES, 0L) == 50));
        local.disconnectAll();
        local.answersUsage = true;
        Await.untilAsserted("the usage is reported", () -> assertThat(local.totals()).isEqualTo(ReadFixture.counted(client)));
        List<StatusMessage.Usage> batches = new ArrayList<>(local.usages);
        assertThat(batches.getLast().batch()).isEqualTo(batches.get(batches.size() - 2).batch());

        // counted while the worker was away, told when it is back
        local.stop();
        Await.until("away", () -> !client.local().connected());
        fixture.assertReads(file, 0, 30);
        local.listen(fixture.socket);
        Await.untilAsserted("the usage is reported", () -> assertThat(local.totals()).isEqualTo(ReadFixture.counted(client)));
        assertThat(local.usage.get(TABLE).get(CounterNames.RAM_HIT_BYTES) + local.usage.get(TABLE).get(CounterNames.BYPASS_BYTES)).isEqualTo(180L);

        // and what was counted last
        fixture.assertReads(file, 0, 20);
        client.close();
        Await.untilAsserted("the rest is counted", () -> assertThat(local.totals()).isEqualTo(ReadFixture.counted(client)));
    }

    @Test
    void testTheRestIsToldWithoutReplies()
            throws Exception
    {
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client);
        local.answersUsage = false;
        fixture.assertReads(file, 0, 50);
        Await.until("reported", () -> ramHitBytes(local.usages).contains(50L));
        fixture.assertReads(file, 0, 30);
        client.close();
        Await.untilAsserted("the rest is reported after what had no reply", () -> assertThat(ramHitBytes(local.usages)).endsWith(50L, 30L));
    }

    private static List<Long> ramHitBytes(Collection<StatusMessage.Usage> batches)
    {
        return batches.stream()
                .map(batch -> batch.counters().getOrDefault(TABLE, Map.of()).getOrDefault(CounterNames.RAM_HIT_BYTES, 0L))
                .toList();
    }

    /**
     * Many tables are reported in several batches, and forgotten when all is acknowledged; then nothing is visited any more.
     */
    @Test
    void testManyTablesAreReportedInBoundedBatchesAndForgotten()
            throws Exception
    {
        CacheClient client = connectedClient();
        for (int i = 0; i < 5000; i++) {
            client.counters().addRequested("s.table" + i, i + 1);
        }
        Await.until("all is reported and forgotten", () -> local.usage.size() == 5000 && client.counters().knownTables() == 0);
        assertThat(local.totals()).isEqualTo(ReadFixture.counted(client)).isEqualTo(Map.of(CounterNames.REQUESTED_BYTES, 5000L * 5001 / 2));
        assertThat(local.usages).hasSizeGreaterThanOrEqualTo(5).allSatisfy(batch -> {
            assertThat(batch.counters()).hasSizeLessThanOrEqualTo(StatusMessage.Usage.MAX_TABLES);
            assertThat(batch.toFrame(1).remaining()).isLessThan(512 << 10);
        });

        // the time for reports goes on: with a table that changes, only that one is visited
        long visits = client.counters().visits();
        int batches = local.usages.size();
        client.counters().addRequested("s.table7", 1);
        Await.until("reported", () -> local.usages.size() > batches && client.counters().knownTables() == 0);
        assertThat(client.counters().visits() - visits).isEqualTo(2);
        assertThat(List.copyOf(local.usages).getLast().counters()).isEqualTo(Map.of("s.table7", Map.of(CounterNames.REQUESTED_BYTES, 1L)));
    }

    /**
     * A reply that is too large fails its request only, on the connection that carries all other requests.
     */
    @Test
    void testReplyThatIsTooLargeFailsItsRequestOnly()
            throws Exception
    {
        CacheClient client = connectedClient();
        CachedFile file = fixture.open(client);
        for (int length : new int[] {BlockBytes.maxBodyBytes(BLOCK) + 1, FrameHeader.MAX_BODY_BYTES, FrameHeader.MAX_BODY_BYTES + 1}) {
            local.reads = (exchange, _) -> exchange.writeFrame(MessageType.BLOCK_BYTES, length);
            fixture.assertReads(file, 0, 10);
        }
        fixture.assertBypassed(client, BypassCause.PROTOCOL_ERROR, 30);
        local.reads = TestingWorker.Exchange::answerAll;
        fixture.assertReads(file, BLOCK, 10);
        assertThat(fixture.observer.bytes(ReadSource.BYPASS)).isEqualTo(30);
        assertThat(local.acceptedConnections()).isEqualTo(1);

        // beyond that limit, the header is not trusted
        local.reads = (exchange, _) -> exchange.writeHeader(MessageType.BLOCK_BYTES, FrameHeader.MAX_SKIPPED_BODY_BYTES + 1);
        fixture.assertReads(file, 0, 10);
        Await.until("reconnected", () -> local.acceptedConnections() == 2);
    }
}
