package io.cachedhive.worker.service;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.ControlMessage.Cancel;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillMessage.Fill;
import io.cachedhive.protocol.wire.FillMessage.OfferGuest;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.InvalidationMessage.Revalidate;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.OriginStatus;
import io.cachedhive.protocol.wire.PreloadMessage.FetchAhead;
import io.cachedhive.protocol.wire.PreloadMessage.Preload;
import io.cachedhive.protocol.wire.PreloadMessage.Preloaded;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockLease;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.GetRings;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.RingMessage.Rings;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage.CountedTable;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.GetTables;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A whole worker over real sockets and a real S3 server: what becomes of versions, leases, preloads and counters, also over restarts.
 */
@Timeout(180)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("slow")
class TestCacheWorkerService
{
    private static final RingEpoch EPOCH = new RingEpoch(1);

    private Lake lake;
    private TestingWorker worker;
    private long mark;

    @BeforeAll
    void startS3(@TempDir Path directory)
    {
        lake = Lake.start(directory);
    }

    @AfterAll
    void stopS3()
    {
        lake.close();
    }

    @BeforeEach
    void setUp(@TempDir Path directory)
    {
        worker = new TestingWorker(directory).withOrigin("default", lake.s3().clientProperties());
        mark = lake.s3().log().mark();
    }

    @AfterEach
    void tearDown()
    {
        lake.s3().setFaults(S3Faults.NONE);
        worker.close();
    }

    private static Read read(FileVersion file, int firstBlock, int blockCount)
    {
        return new Read(0, file, Range.ofBlocks(firstBlock, blockCount), true, true, true, EPOCH, "schema.table");
    }

    private static Map<Integer, Message> blocks(WireClient peer, Read read)
    {
        long request = peer.send(read);
        Map<Integer, Message> answers = new HashMap<>();
        while (answers.size() < read.blockCount()) {
            switch (peer.await(request)) {
                case Fetching _ -> {}
                case BlockBytes bytes -> answers.put(bytes.block(), bytes);
                case BlockFrame frame -> answers.put(frame.block(), frame);
                case BlockNo no -> answers.put(no.block(), no);
                case BlockLease lease -> answers.put(lease.block(), lease);
                case Message other -> throw new AssertionError("unexpected answer: " + other);
            }
        }
        return answers;
    }

    private static void assertBlocks(WireClient peer, StoredFile stored, int firstBlock, int blockCount, Source source)
    {
        blocks(peer, read(stored.file(), firstBlock, blockCount)).forEach((block, answer) -> {
            assertThat(answer).isInstanceOf(BlockBytes.class);
            assertThat(((BlockBytes) answer).source()).isEqualTo(source);
            assertThat(WireClient.bytes((BlockBytes) answer)).isEqualTo(stored.block(block));
        });
    }

    @Test
    void testProvisionalVersion()
    {
        worker.start();
        // provisional for some seconds, however busy the machine is
        StoredFile stored = lake.put("provisional/confirmed", 3 * BLOCK_SIZE, 1, Instant.now().plusSeconds(5));
        try (WireClient peer = worker.connect()) {
            // also to a client that asks for a frame: nobody else may see it
            Read frame = new Read(0, stored.file(), Range.ofBlocks(0, 3), false, true, false, EPOCH, "schema.table");
            blocks(peer, frame).forEach((block, answer) -> assertThat(WireClient.bytes((BlockBytes) answer)).isEqualTo(stored.block(block)));
            assertThat(worker.gauge(CounterNames.RAM_BLOCKS)).isZero();
            Await.until("it is confirmed", () -> worker.gauge(CounterNames.RAM_BLOCKS) == 3);
            assertThat(lake.headsSince(mark)).isEqualTo(1);
            long gets = lake.getsSince(mark).size();
            blocks(peer, frame).forEach((_, answer) -> assertThat(((BlockFrame) answer).source()).isEqualTo(Source.RAM));
            assertThat(lake.getsSince(mark)).hasSize((int) gets);
        }
    }

    @Test
    void testOverwrittenInTheSameSecondWithTheSameLength()
    {
        worker.start();
        // provisional for some seconds, however busy the machine is
        Instant second = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(5);
        StoredFile before = lake.put("provisional/overwritten", 2 * BLOCK_SIZE, 2, second);
        try (WireClient peer = worker.connect()) {
            assertBlocks(peer, before, 0, 2, Source.REMOTE);
            StoredFile after = lake.put("provisional/overwritten", 2 * BLOCK_SIZE, 3, second);
            assertThat(after.file()).isEqualTo(before.file());
            Await.until("the first version is dropped", () -> worker.gauge(CounterNames.VERSION_CHANGES) == 1);
            assertThat(worker.gauge(CounterNames.RAM_BLOCKS)).isZero();
            assertBlocks(peer, after, 0, 2, Source.REMOTE);
        }
    }

    @Test
    void testRevalidate()
    {
        worker.start();
        StoredFile stored = lake.putSettled("revalidate/file", 2 * BLOCK_SIZE, 4);
        try (WireClient peer = worker.connect()) {
            assertBlocks(peer, stored, 0, 2, Source.REMOTE);
            assertThat(peer.ask(new Revalidate(0, stored.file()))).isEqualTo(new Ack());
            assertBlocks(peer, stored, 0, 2, Source.RAM);
            StoredFile after = lake.put("revalidate/file", 2 * BLOCK_SIZE, 5, Instant.ofEpochMilli(stored.file().lastModifiedMillis()));
            assertThat(peer.ask(new Revalidate(0, stored.file()))).isEqualTo(new Ack());
            assertBlocks(peer, after, 0, 2, Source.REMOTE);
        }
    }

    @Test
    void testPreload()
    {
        worker.start();
        StoredFile stored = lake.put("preload/file", 20 * BLOCK_SIZE, 6, Instant.now());
        StoredFile settled = lake.putSettled("preload/settled", 20 * BLOCK_SIZE, 7);
        try (WireClient peer = worker.connect()) {
            // waits until the version is confirmed
            assertThat(peer.ask(new Preload(0, stored.file(), 0, 10L * BLOCK_SIZE, EPOCH, "t")))
                    .isEqualTo(new Preloaded(10L * BLOCK_SIZE, 0, 0, Optional.empty()));
            assertBlocks(peer, stored, 0, 10, Source.RAM);

            assertBlocks(peer, settled, 2, 3, Source.REMOTE);
            // widened to whole blocks
            assertThat(peer.ask(new Preload(0, settled.file(), BLOCK_SIZE + 1, 5L * BLOCK_SIZE - 2, EPOCH, "t")))
                    .isEqualTo(new Preloaded(2L * BLOCK_SIZE, 3L * BLOCK_SIZE, 0, Optional.empty()));
            assertThat(worker.gauge(CounterNames.EXTRA_BYTES)).isEqualTo(12L * BLOCK_SIZE);

            FileVersion gone = new FileVersion(settled.file().origin(), settled.file().location() + "x", 3 * BLOCK_SIZE, 0);
            Preloaded failed = (Preloaded) peer.ask(new Preload(0, gone, 0, 3L * BLOCK_SIZE, EPOCH, "t"));
            assertThat(failed.failedBytes()).isEqualTo(3L * BLOCK_SIZE);
            assertThat(failed.problem().orElseThrow()).contains(gone.location());
        }
    }

    @Test
    void testWarmRestart()
    {
        worker.withSsd(64 << 20).start();
        StoredFile stored = lake.putSettled("restart/file", 30 * BLOCK_SIZE + 5, 8);
        CacheWorkerId id;
        try (WireClient peer = worker.connect()) {
            id = peer.welcome().worker();
            assertBlocks(peer, stored, 0, 31, Source.REMOTE);
        }
        Await.until("all is on SSD", () -> worker.gauge(CounterNames.SSD_BLOCKS) == 31);
        worker.stop();
        long restarted = lake.s3().log().mark();
        worker.start();
        try (WireClient peer = worker.connect()) {
            assertThat(peer.welcome().worker()).isEqualTo(id);
            Await.until("all is found again", () -> worker.gauge(CounterNames.RESTORED_BLOCKS) == 31);
            assertBlocks(peer, stored, 0, 31, Source.SSD);
            assertBlocks(peer, stored, 0, 31, Source.RAM);
        }
        assertThat(lake.getsSince(restarted)).isEmpty();
        assertThat(lake.headsSince(restarted)).isZero();
    }

    @Test
    void testCountersAndRingsSurvive()
    {
        worker.start();
        PublishedRing ring = new PublishedRing(HashRing.of(List.of(new RingMember(new CacheWorkerId("a"), 5, Optional.empty()))), Map.of(), 1000);
        Map<String, Map<String, Long>> counted = Map.of("s.t", Map.of(CounterNames.RAM_HIT_BYTES, 10L));
        Usage batch = new Usage(new Digest128(1, 2), 1, counted, List.of(new Digest128(3, 4)));
        try (WireClient peer = worker.connect(); WireClient other = worker.connect("other", worker.origins())) {
            assertThat(peer.ask(batch)).isEqualTo(new Ack());
            assertThat(peer.ask(batch)).isEqualTo(new Ack());
            assertThat(peer.ask(new PublishRing(ring))).isEqualTo(new Ack());
            assertThat(peer.ask(new GetTables(""))).isEqualTo(new Tables(List.of(new CountedTable("s.t", counted.get("s.t"))), false));
            assertThat(((Stats) peer.ask(new GetStats())).counters()).isEqualTo(counted.get("s.t"));
            assertThat(((Stats) other.ask(new GetStats())).counters()).isEmpty();
            assertThat(other.ask(new GetTables(""))).isEqualTo(new Tables(List.of(), false));
        }
        worker.stop();
        worker.start();
        try (WireClient peer = worker.connect()) {
            assertThat(peer.ask(batch)).isEqualTo(new Ack());
            assertThat(peer.ask(new GetTables(""))).isEqualTo(new Tables(List.of(new CountedTable("s.t", counted.get("s.t"))), false));
            assertThat(((Stats) peer.ask(new GetStats())).counters()).isEqualTo(counted.get("s.t"));
            assertThat(((Rings) peer.ask(new GetRings())).rings()).containsExactly(ring);
            assertThat(((Pong) peer.ask(new Ping())).newestRing()).isEqualTo(ring.epoch());
        }
    }

    @Test
    void testLeasesForWhatTheWorkerCannotFetch()
    {
        worker.start();
        OriginId foreign = new OriginId(new Digest128(9, 9));
        FileVersion file = new FileVersion(foreign, "hdfs://namenode/file", BLOCK_SIZE, 1000);
        byte[] bytes = new byte[BLOCK_SIZE];
        new Random(9).nextBytes(bytes);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        List<NamedOrigin> origins = List.of(new NamedOrigin("elsewhere", foreign));
        try (WireClient first = worker.connect("a", origins); WireClient second = worker.connect("b", origins)) {
            assertThat(first.welcome().origins()).containsExactly(OriginStatus.UNKNOWN);
            BlockLease lease = (BlockLease) blocks(first, read(file, 0, 1)).get(0);
            long waiting = second.send(read(file, 0, 1));
            assertThat(second.await(waiting)).isInstanceOf(Fetching.class);
            Fill offer = new Fill(lease.lease(), BLOCK_SIZE, 1000, (int) checksum.getValue(), ByteBuffer.wrap(bytes));
            assertThat(second.ask(offer)).as("only its holder may use a lease").isInstanceOf(ControlMessage.Error.class);
            assertThat(first.ask(offer)).isEqualTo(new Ack());
            BlockBytes handedOn = (BlockBytes) second.await(waiting);
            assertThat(handedOn.source()).isEqualTo(Source.REMOTE);
            assertThat(WireClient.bytes(handedOn)).isEqualTo(bytes);
            assertThat(((BlockBytes) blocks(first, read(file, 0, 1)).get(0)).source()).isEqualTo(Source.RAM);
        }
    }

    @Test
    void testLeaseEndsWithItsConnection()
    {
        worker.start();
        OriginId foreign = new OriginId(new Digest128(9, 9));
        FileVersion file = new FileVersion(foreign, "hdfs://namenode/other", BLOCK_SIZE, 1000);
        List<NamedOrigin> origins = List.of(new NamedOrigin("elsewhere", foreign));
        try (WireClient second = worker.connect("b", origins)) {
            long waiting;
            try (WireClient first = worker.connect("a", origins)) {
                assertThat(blocks(first, read(file, 0, 1)).get(0)).isInstanceOf(BlockLease.class);
                waiting = second.send(read(file, 0, 1));
                assertThat(second.await(waiting)).isInstanceOf(Fetching.class);
            }
            assertThat(second.await(waiting)).isInstanceOf(BlockLease.class);
        }
    }

    @Test
    void testOriginThatDeniesIsLeftToClients()
    {
        Map<String, String> wrongKeys = new HashMap<>(lake.s3().clientProperties());
        wrongKeys.put("s3.aws-secret-key", "wrong");
        worker.withOrigin("default", wrongKeys).start();
        StoredFile stored = lake.putSettled("denied/file", BLOCK_SIZE, 10);
        try (WireClient peer = worker.connect()) {
            assertThat(blocks(peer, read(stored.file(), 0, 1)).get(0)).isInstanceOf(BlockLease.class);
            assertThat(((Stats) peer.ask(new GetStats())).problem().orElseThrow())
                    .startsWith("origin default answers 403")
                    .contains("check the credentials in")
                    .contains("default.properties");
        }
    }

    @Test
    void testOriginOfTheSameNameElsewhere()
    {
        worker.start();
        OriginId other = OriginId.of("s3", Optional.of("http://127.0.0.1:1"), Optional.of("us-east-1"));
        FileVersion file = new FileVersion(other, "s3://lake/file", BLOCK_SIZE, 1000);
        try (WireClient peer = worker.connect("lake", List.of(new NamedOrigin("default", other)))) {
            assertThat(peer.welcome().origins()).containsExactly(OriginStatus.MISMATCH);
            assertThat(blocks(peer, read(file, 0, 1)).get(0)).isEqualTo(new BlockNo(0, NoCause.ORIGIN_MISMATCH));
        }
        assertThat(lake.getsSince(mark)).isEmpty();
    }

    /**
     * Two files of one object store, each with the credentials of its isolation domain.
     */
    @Test
    void testDomainsOfOneStoreShareNothing()
    {
        Map<String, String> named = new HashMap<>(lake.s3().clientProperties());
        named.put("isolation-domain", "finance");
        worker.withOrigin("finance", named).start();
        StoredFile stored = lake.putSettled("domains/file", BLOCK_SIZE, 14);
        OriginId finance = worker.originId("finance");
        assertThat(finance).isNotEqualTo(lake.originId());
        FileVersion theirs = new FileVersion(finance, stored.file().location(), stored.file().length(), stored.file().lastModifiedMillis());
        try (WireClient one = worker.connect("one", List.of(new NamedOrigin("default", lake.originId())));
                WireClient two = worker.connect("two", List.of(new NamedOrigin("finance", finance)));
                WireClient wrong = worker.connect("wrong", List.of(new NamedOrigin("default", finance)))) {
            assertBlocks(one, stored, 0, 1, Source.REMOTE);
            assertThat(blocks(two, read(theirs, 0, 1)).get(0)).isInstanceOfSatisfying(BlockBytes.class, bytes -> {
                assertThat(bytes.source()).isEqualTo(Source.REMOTE);
                assertThat(WireClient.bytes(bytes)).isEqualTo(stored.block(0));
            });
            assertThat(lake.getsSince(mark)).hasSize(2);
            assertThat(wrong.welcome().origins()).containsExactly(OriginStatus.MISMATCH);
            assertThat(blocks(wrong, read(theirs, 0, 1)).get(0)).isEqualTo(new BlockNo(0, NoCause.ORIGIN_MISMATCH));
        }
    }

    @Test
    void testLocationsThatAreNotAllowed()
    {
        StoredFile inside = lake.putSettled("allowed/file", BLOCK_SIZE, 15);
        StoredFile outside = lake.putSettled("secret/file", 3 * BLOCK_SIZE, 16);
        Map<String, String> limited = new HashMap<>(lake.s3().clientProperties());
        limited.put("allowed-locations", "s3://" + Lake.BUCKET + "/allowed/");
        worker.withOrigin("default", limited).start();
        mark = lake.s3().log().mark();
        try (WireClient peer = worker.connect()) {
            assertBlocks(peer, inside, 0, 1, Source.REMOTE);
            assertThat(((Stats) peer.ask(new GetStats())).problem()).isEmpty();
            long gets = lake.getsSince(mark).size();
            assertThat(blocks(peer, read(outside.file(), 0, 2)).values())
                    .containsExactlyInAnyOrder(new BlockNo(0, NoCause.LOCATION_NOT_ALLOWED), new BlockNo(1, NoCause.LOCATION_NOT_ALLOWED));
            assertThat(worker.gauge(CounterNames.ORIGIN_LOCATIONS_REFUSED)).isEqualTo(2);
            assertThat(((Stats) peer.ask(new GetStats())).problem().orElseThrow())
                    .startsWith("origin default does not allow s3://" + Lake.BUCKET + "/secret/file, so that Trino reads it: ")
                    .contains("default.properties");
            Preloaded preloaded = (Preloaded) peer.ask(new Preload(0, outside.file(), 0, 3 * BLOCK_SIZE, EPOCH, "schema.table"));
            assertThat(preloaded.problem().orElseThrow()).contains("the origin does not allow this location");
            assertThat(worker.gauge(CounterNames.ORIGIN_LOCATIONS_REFUSED)).isEqualTo(5);
            peer.ask(new FetchAhead(0, new Digest128(1, 2), "schema.table", List.of(outside.file())));
            assertThat(peer.ask(new Revalidate(0, outside.file()))).isInstanceOf(Ack.class);
            byte[] block = outside.block(0);
            CRC32C checksum = new CRC32C();
            checksum.update(block);
            peer.send(new OfferGuest(0, outside.file(), 0, "schema.table", 1, (int) checksum.getValue(), ByteBuffer.wrap(block)));
            peer.ask(new Ping());
            assertThat(worker.gauge(CounterNames.GUEST_BLOCKS_REJECTED)).isEqualTo(1);
            assertThat(worker.gauge(CounterNames.RAM_BLOCKS)).as("the allowed one").isEqualTo(1);
            assertThat(lake.getsSince(mark)).hasSize((int) gets);
            assertThat(lake.headsSince(mark)).isZero();
            assertBlocks(peer, inside, 0, 1, Source.RAM);
        }
    }

    @Test
    void testTwoOriginsAreNeverMixed(@TempDir Path directory)
    {
        try (Lake second = Lake.start(directory)) {
            worker.withOrigin("second", second.s3().clientProperties()).start();
            Instant time = Instant.now().minusSeconds(3600);
            StoredFile here = lake.put("same/file", BLOCK_SIZE, 11, time);
            StoredFile there = second.put("same/file", BLOCK_SIZE, 12, time);
            try (WireClient one = worker.connect("one", List.of(new NamedOrigin("default", lake.originId())));
                    WireClient two = worker.connect("two", List.of(new NamedOrigin("second", second.originId())))) {
                assertBlocks(one, here, 0, 1, Source.REMOTE);
                assertBlocks(two, there, 0, 1, Source.REMOTE);
                assertBlocks(one, here, 0, 1, Source.RAM);
                assertBlocks(two, there, 0, 1, Source.RAM);
            }
        }
    }

    @Test
    void testCancelStorm()
    {
        worker.withMaxRequestsPerBucket(4).start();
        StoredFile stored = lake.putSettled("storm/file", 60 * BLOCK_SIZE, 13);
        lake.s3().setFaults(S3Faults.NONE.withLatency(Duration.ofMillis(3)));
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        try (WireClient peer = worker.connect()) {
            for (int i = 0; i < 1000; i++) {
                int first = random.nextInt(50);
                long request = peer.send(read(stored.file(), first, 1 + random.nextInt(10)));
                if (random.nextInt(4) == 0) {
                    peer.await(request);
                }
                peer.send(new Cancel(request));
            }
            assertThat(peer.ask(new Ping())).isInstanceOf(Pong.class);
            Await.until("nothing is left over", () -> worker.gauge(CounterNames.ACTIVE_REQUESTS) == 0 && worker.gauge(CounterNames.REFERENCED_BLOCKS) == 0);
            // the same connection goes on, and every block can be had
            for (int block = 0; block < 60; block += 10) {
                blocks(peer, read(stored.file(), block, 10)).forEach((index, answer) -> assertThat(WireClient.bytes((BlockBytes) answer)).isEqualTo(stored.block(index)));
            }
            assertThat(worker.gauge(CounterNames.ACCEPTED_CONNECTIONS)).isEqualTo(1);
        }
        assertThat(lake.getsSince(mark).stream().mapToLong(get -> get.bytesSent()).sum()).as("no block is fetched twice").isEqualTo(60L * BLOCK_SIZE);
    }
}
