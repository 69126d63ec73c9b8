package io.cachedhive.worker.handover;

import io.cachedhive.protocol.checksum.MemoryChecksums;
import io.cachedhive.protocol.checksum.PieceChecksums;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.HandOverMessage.Describe;
import io.cachedhive.protocol.wire.HandOverMessage.DescribedBlock;
import io.cachedhive.protocol.wire.HandOverMessage.Description;
import io.cachedhive.protocol.wire.HandshakeMessage;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PreloadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.Fill;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.worker.handover.TestingFleet.Answer;
import io.cachedhive.worker.service.WorkerSettings;
import io.cachedhive.worker.testing.FakePeer;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
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

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a new owner asks of the owner before, over real sockets and with a real S3 server.
 */
@Timeout(180)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("slow")
class TestFormerOwnerReads
{
    private static final int BLOCKS = 40;

    private Lake lake;
    private TestingFleet fleet;

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
        fleet = new TestingFleet(directory, lake);
    }

    @AfterEach
    void tearDown()
    {
        fleet.close();
    }

    private StoredFile put(String key, long seed)
    {
        return lake.putSettled(key, BLOCKS * BLOCK_SIZE - 77, seed);
    }

    private long mark()
    {
        return lake.s3().log().mark();
    }

    private long gets(long mark)
    {
        return lake.getsSince(mark).size();
    }

    private static long gauge(TestingFleet fleet, String worker, String name)
    {
        return fleet.worker(worker).gauge(name);
    }

    @Test
    void testNewOwnerTakesWhatTheFormerHas()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("moved/file", 1);
        assertThat(fleet.scan(file)).containsOnlyKeys(Source.REMOTE);

        fleet.start("b");
        fleet.publish("a");
        fleet.publish("a", "b");
        List<Integer> moved = fleet.ownedBy("b", file);
        assertThat(moved).hasSizeBetween(1, BLOCKS - 1);
        long mark = mark();
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS - moved.size(), Source.PEER, moved.size()));
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
        assertThat(gets(mark)).isZero();
        assertThat(lake.headsSince(mark)).isZero();
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_BLOCKS_RECEIVED)).isEqualTo(moved.size());
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_BYTES_RECEIVED)).isEqualTo(moved.stream().mapToLong(block -> file.file().blockLength(block, BLOCK_SIZE)).sum());
        assertThat(gauge(fleet, "b", CounterNames.EXTRA_BYTES)).as("nothing came from the origin").isZero();
    }

    /// What is fetched ahead from the former owner costs no request to the origin, so its first read is a hit.
    @Test
    void testFetchedAheadFromTheFormer()
            throws Exception
    {
        fleet.start("a");
        fleet.publish("a");
        List<StoredFile> files = IntStream.range(0, 30).mapToObj(number -> lake.putSettled("ahead/file" + number, 949, number)).toList();
        files.forEach(file -> assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.REMOTE, 1)));

        fleet.start("b");
        fleet.publish("a");
        fleet.publish("a", "b");
        List<StoredFile> moved = files.stream().filter(file -> !fleet.ownedBy("b", file).isEmpty()).toList();
        assertThat(moved).isNotEmpty();
        List<FileVersion> announced = moved.stream().map(StoredFile::file).toList();
        long mark = mark();
        try (WireClient coordinator = fleet.worker("b").connectTcp()) {
            // without it, the owners of chunks are unknown
            coordinator.send(new HandshakeMessage.ChunkSize(TestingFleet.CHUNK_SIZE));
            assertThat(coordinator.ask(new PreloadMessage.FetchAhead(0, new Digest128(1, 2), "schema.table", announced))).isEqualTo(new ControlMessage.Ack());
        }
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_BLOCKS_RECEIVED)).isEqualTo(moved.size());
        moved.forEach(file -> assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, 1)));
        assertThat(gets(mark)).isZero();
    }

    @Test
    void testTermsAndTableTravel()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("terms/file", 2);
        BlockStore former = fleet.worker("a").service().store();
        BlockTerms terms = BlockTerms.until(BlockClass.HIGH, System.currentTimeMillis() + Duration.ofHours(3).toMillis());
        assertThat(former.bind(file.file(), Optional.of("\"any\""), false, "its.table")).isTrue();
        for (int block = 0; block < BLOCKS; block++) {
            int length = file.file().blockLength(block, BLOCK_SIZE);
            try (Fill fill = former.beginFill(file.file().id().block(block), length, former.file(file.file().id()).orElseThrow().etagDigest(), terms).orElseThrow()) {
                fill.buffer().put(file.block(block));
                fill.commit().orElseThrow().close();
            }
        }
        fleet.start("b");
        fleet.publish("a");
        fleet.publish("b");
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.PEER, BLOCKS));
        assertThat(fleet.worker("b").service().store().contents().describe(file.file().id(), 0, BLOCKS)).isEqualTo(former.contents().describe(file.file().id(), 0, BLOCKS));
        assertThat(former.contents().describe(file.file().id(), 0, BLOCKS).orElseThrow().blocks()).hasSize(BLOCKS).containsEntry(7, terms);
    }

    @Test
    void testTheOriginHasTheRest()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("rest/file", 3);
        for (int block = 0; block < 8; block += 3) {
            fleet.read("a", file, block);
        }
        fleet.start("b");
        fleet.publish("a");
        fleet.publish("b");
        long mark = mark();
        Map<Integer, Answer> answers = fleet.read("b", file, 0, 8);
        for (int block = 0; block < 8; block++) {
            assertThat(answers.get(block).source()).contains(block % 3 == 0 ? Source.PEER : Source.REMOTE);
        }
        // 1-2, 4-5, 7
        assertThat(gets(mark)).isEqualTo(3);
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_FAILURES)).isZero();
    }

    @Test
    void testTheOneBeforeTheLast()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("before/file", 4);
        fleet.scan(file);
        fleet.start("b");
        fleet.start("c");
        fleet.publish("a");
        // nobody reads meanwhile
        fleet.publish("b");
        fleet.publish("c");
        long mark = mark();
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.PEER, BLOCKS));
        assertThat(gets(mark)).isZero();
    }

    @Test
    void testWorkersComeAndGo()
    {
        for (String name : List.of("a", "b", "c", "d", "e")) {
            fleet.start(name);
        }
        StoredFile file = put("loop/file", 5);
        List<Set<Integer>> had = IntStream.range(0, 5).mapToObj(_ -> (Set<Integer>) new HashSet<Integer>()).toList();
        List<String> names = List.of("a", "b", "c", "d", "e");
        long mark = mark();
        for (List<String> members : List.of(List.of("a", "b", "c"), List.of("a", "b"), List.of("a", "b", "d", "e"), List.of("b", "d", "e"))) {
            fleet.publish(members.toArray(String[]::new));
            // what its owner did not have before is with the owner before
            int moved = 0;
            for (int block = 0; block < BLOCKS; block++) {
                moved += had.get(names.indexOf(fleet.owner(file, block))).add(block) ? 1 : 0;
            }
            Source source = members.contains("c") ? Source.REMOTE : Source.PEER;
            assertThat(fleet.scan(file).getOrDefault(source, 0)).as("with %s", members).isEqualTo(moved);
            assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
        }
        assertThat(gets(mark)).as("only of the first ring").isEqualTo(BLOCKS);

        // one that is gone at once takes its share with it, but for what its heir had before
        fleet.stop("d");
        fleet.publish("b", "e");
        mark = mark();
        int lost = 0;
        for (int block = 0; block < BLOCKS; block++) {
            lost += had.get(names.indexOf(fleet.owner(file, block))).add(block) ? 1 : 0;
        }
        assertThat(fleet.scan(file).getOrDefault(Source.REMOTE, 0)).isEqualTo(lost);
        assertThat(gets(mark)).isEqualTo(lost);
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
    }

    @Test
    void testClientThatTellsNoChunkSize()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("unsaid/file", 7);
        fleet.scan(file);
        fleet.start("b");
        fleet.publish("a");
        fleet.publish("b");
        try (WireClient client = fleet.worker("b").connect()) {
            assertThat(TestingFleet.read(client, file, 0, 1).get(0).source()).contains(Source.REMOTE);
        }
    }

    @Test
    void testProvisionalVersionsAreNotHandedOver()
    {
        fleet.start("a");
        fleet.publish("a");
        // for an hour still, however busy the machine is
        StoredFile file = lake.put("provisional/file", BLOCKS * BLOCK_SIZE, 8, Instant.now().plusSeconds(3600));
        fleet.read("a", file, 0);
        try (WireClient client = fleet.worker("a").connect()) {
            assertThat(client.ask(new Describe(file.file().id(), 0, BLOCKS))).isEqualTo(Description.UNKNOWN);
        }
    }

    /**
     * The object was overwritten without a change of length or time, and the new owner saw it first.
     */
    @Test
    void testFormerOwnerHasAnotherState()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile before = put("state/file", 9);
        fleet.scan(before);
        StoredFile after = lake.put("state/file", before.bytes().length, 10, Instant.ofEpochMilli(before.file().lastModifiedMillis()));
        assertThat(after.file()).isEqualTo(before.file());
        fleet.start("b");
        fleet.publish("a");
        fleet.publish("b");
        try (WireClient client = fleet.worker("b").connect()) {
            TestingFleet.read(client, after, 0, 1);
        }
        // what is compared are the bytes of the new state
        for (int block = 1; block < BLOCKS; block++) {
            assertThat(fleet.read("b", after, block).source()).contains(Source.REMOTE);
        }
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_BLOCKS_RECEIVED)).isZero();
    }

    /**
     * The same, but that the new owner learns of it only when it has taken blocks.
     */
    @Test
    void testOriginHasAnotherStateThanWhatWasTaken()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile before = put("state/other", 11);
        for (int block = 0; block < 10; block++) {
            fleet.read("a", before, block);
        }
        StoredFile after = lake.put("state/other", before.bytes().length, 12, Instant.ofEpochMilli(before.file().lastModifiedMillis()));
        fleet.start("b");
        fleet.publish("a");
        fleet.publish("b");
        assertThat(fleet.read("b", before, 3).source()).contains(Source.PEER);
        assertThat(fleet.read("b", after, 20).no()).contains(NoCause.VERSION_GONE);
        // the former owner is not asked for it any more
        assertThat(fleet.scan(after)).isEqualTo(Map.of(Source.REMOTE, BLOCKS));
    }

    private static Description description(int... blocks)
    {
        return new Description(true, Optional.of("\"any\""), "s.t", IntStream.of(blocks).mapToObj(block -> new DescribedBlock(block, 1, BlockTerms.NEVER)).toList());
    }

    private static BlockBytes bytes(StoredFile file, int block, boolean right)
    {
        byte[] bytes = file.block(block);
        PieceChecksums checksums = MemoryChecksums.compute(MemorySegment.ofArray(bytes));
        if (!right) {
            bytes[bytes.length / 2]++;
        }
        return new BlockBytes(block, Source.RAM, ETags.digest("\"any\""), checksums, ByteBuffer.wrap(bytes));
    }

    private void afterFake(FakePeer fake)
    {
        fleet.add("fake", fake);
        fleet.start("b");
        fleet.publish("fake");
        fleet.publish("b");
    }

    @Test
    void testSilentFormerOwner()
    {
        fleet.withPeerSilence(WorkerSettings.DEFAULT_PEER_SILENCE);
        StoredFile file = put("silent/file", 13);
        AtomicInteger requests = new AtomicInteger();
        afterFake(FakePeer.start("silent", (_, request) -> {
            if (request instanceof Describe) {
                requests.incrementAndGet();
            }
        }));
        for (int block = 0; block < 10; block++) {
            assertThat(fleet.read("b", file, block).source()).contains(Source.REMOTE);
        }
        // three reads wait, and then the breaker is open, but after five probes without a reply, a second apart: they do not lie between each three of the reads
        assertThat(requests).hasValueLessThan(10);
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_FAILURES)).isEqualTo(10);
    }

    @Test
    void testFormerOwnerFallsSilent()
    {
        // the description has to arrive within that time, and the worker waits twice as long for the bytes that do not come
        Duration silence = Duration.ofSeconds(5);
        fleet.withPeerSilence(silence);
        StoredFile file = put("stuck/file", 14);
        afterFake(FakePeer.start("stuck", (exchange, request) -> {
            switch (request) {
                case Describe _ -> exchange.send(description(0, 1, 2, 3));
                // and no more
                case Read _ -> exchange.send(bytes(file, 0, true));
                default -> {}
            }
        }));
        long start = System.nanoTime();
        // the etag of what was taken is not the origin's: the rest is another state
        Map<Integer, Answer> answers = fleet.read("b", file, 0, 2);
        assertThat(answers.get(0).source()).contains(Source.PEER);
        assertThat(answers.get(1).no()).contains(NoCause.VERSION_GONE);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(silence.multipliedBy(2));
        assertThat(fleet.read("b", file, 0).source()).contains(Source.REMOTE);
    }

    @Test
    void testFormerOwnerSendsWhatDoesNotVerify()
    {
        StoredFile file = put("corrupt/file", 15);
        afterFake(FakePeer.start("corrupt", (exchange, request) -> {
            switch (request) {
                case Describe _ -> exchange.send(new Description(true, Optional.empty(), "s.t", description(0).blocks()));
                case Read _ -> exchange.send(bytes(file, 0, false));
                default -> {}
            }
        }));
        // bound to no ETag, which is not the origin's: a miss, and then the origin's
        assertThat(fleet.read("b", file, 0).source().or(() -> fleet.read("b", file, 0).source())).contains(Source.REMOTE);
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_BLOCKS_RECEIVED)).isZero();
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_FAILURES)).isEqualTo(1);
    }

    @Test
    void testFormerOwnerTalksNonsense()
    {
        StoredFile file = put("nonsense/file", 16);
        List<FakePeer.Script> scripts = List.of(
                (exchange, _) -> exchange.sendRaw(ByteBuffer.wrap("HTTP/1.1 400 Bad Request\r\n\r\n and more of it".getBytes(UTF_8))),
                (exchange, _) -> exchange.send(new ControlMessage.Ack()),
                (exchange, _) -> exchange.send(new ControlMessage.Error("no")),
                (exchange, request) -> exchange.send(request instanceof Describe ? Description.UNKNOWN : new ControlMessage.Ack()),
                (exchange, request) -> exchange.send(request instanceof Describe ? description(100, 200, -5) : new ControlMessage.Ack()));
        fleet.start("b");
        for (int i = 0; i < scripts.size(); i++) {
            FakePeer fake = FakePeer.start("nonsense-" + i, scripts.get(i));
            fleet.add("fake" + i, fake);
            fleet.publish("fake" + i);
            fleet.publish("b");
            assertThat(fleet.read("b", file, i).source()).as("script %s", i).contains(Source.REMOTE);
            assertThat(fake.requests()).as("script %s", i).isPositive();
        }
        assertThat(gauge(fleet, "b", CounterNames.HANDOVER_BLOCKS_RECEIVED)).isZero();
    }

    @Test
    void testFormerOwnerIsGone()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("gone/file", 17);
        fleet.scan(file);
        // a read that waits for a time-out fails the test
        fleet.withPeerSilence(Duration.ofHours(1));
        fleet.start("b");
        fleet.publish("a");
        fleet.publish("b");
        fleet.stop("a");
        for (int block = 0; block < 10; block++) {
            assertThat(fleet.read("b", file, block).source()).contains(Source.REMOTE);
        }
    }
}
