package io.cachedhive.worker.request;

import io.cachedhive.protocol.checksum.PieceVerifier;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Cancel;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.protocol.wire.HandOverMessage.Describe;
import io.cachedhive.protocol.wire.HandOverMessage.DescribedBlock;
import io.cachedhive.protocol.wire.HandOverMessage.Description;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PolicyMessage.OnTerms;
import io.cachedhive.protocol.wire.PolicyMessage.Reclassify;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.PreloadMessage;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.BlockFrame;
import io.cachedhive.protocol.wire.ReadMessage.BlockNo;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.RingMessage.PublishRing;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.store.BlockStore;
import io.cachedhive.store.block.BlockClass;
import io.cachedhive.store.quota.TableUsage;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.cachedhive.protocol.wire.FillClass.HIGH;
import static io.cachedhive.protocol.wire.FillClass.NORMAL;
import static io.cachedhive.protocol.wire.FillClass.PINNED;
import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads over real sockets, of objects in a real S3 server.
 */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestReads
{
    private static final String BUCKET = "lake";
    private static final List<String> KEYS = List.of(
            "table/a b%20c/ü",
            "table/tcp",
            "table/parts",
            "table/damaged",
            "table/single-flight",
            "table/joined",
            "table/replaced",
            "table/other",
            "table/busy",
            "table/cancel",
            "table/bad",
            "table/terms",
            "table/quota",
            "table/preload");
    private static final int MAX_BLOCKS = 40;

    @TempDir
    private Path directory;

    private S3Server s3;
    private S3Client client;
    private final Map<String, Stored> settled = new HashMap<>();
    private TestingWorker worker;
    private long mark;

    /// Objects that nobody can overwrite unseen any more, for all tests: the two seconds are waited for once.
    @BeforeAll
    void startS3()
    {
        s3 = S3Server.builder().bucket(BUCKET).start();
        client = s3.client();
        for (int i = 0; i < KEYS.size(); i++) {
            settled.put(KEYS.get(i), put(KEYS.get(i), MAX_BLOCKS * BLOCK_SIZE - 123, i));
        }
        long last = settled.values().stream().mapToLong(stored -> stored.file().lastModifiedMillis()).max().orElseThrow();
        Await.until("two seconds have passed", () -> Instant.now().toEpochMilli() >= last / 1000 * 1000 + 3000);
    }

    @AfterAll
    void stopS3()
    {
        client.close();
        s3.close();
    }

    @BeforeEach
    void start()
    {
        worker = new TestingWorker(directory).withOrigin("default", s3.clientProperties());
        mark = s3.log().mark();
    }

    @AfterEach
    void stop()
    {
        s3.setFaults(S3Faults.NONE);
        worker.close();
    }

    private record Stored(FileVersion file, byte[] bytes)
    {
        byte[] block(int index)
        {
            return Arrays.copyOfRange(bytes, index * BLOCK_SIZE, Math.min(bytes.length, (index + 1) * BLOCK_SIZE));
        }
    }

    private Stored put(String key, int length, long seed)
    {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        client.putObject(request -> request.bucket(BUCKET).key(key), RequestBody.fromBytes(bytes));
        HeadObjectResponse head = client.headObject(request -> request.bucket(BUCKET).key(key));
        OriginId origin = Lake.originId(s3.endpoint().toString());
        return new Stored(new FileVersion(origin, "s3://" + BUCKET + "/" + key, length, head.lastModified().toEpochMilli()), bytes);
    }

    private static Read read(FileVersion file, int firstBlock, int blockCount, boolean inline)
    {
        return new Read(0, file, Range.ofBlocks(firstBlock, blockCount), inline, true, false, new RingEpoch(1), "schema.table");
    }

    /// All answers to the blocks of a read, by block.
    private static Map<Integer, Message> blocks(WireClient peer, long request, int count)
    {
        Map<Integer, Message> answers = new HashMap<>();
        while (answers.size() < count) {
            Message answer = peer.await(request);
            switch (answer) {
                case Fetching _ -> {}
                case BlockBytes bytes -> answers.put(bytes.block(), bytes);
                case BlockFrame frame -> answers.put(frame.block(), frame);
                case BlockNo no -> answers.put(no.block(), no);
                default -> throw new AssertionError("unexpected answer: " + answer);
            }
        }
        return answers;
    }

    private static void assertBlocks(Stored stored, Map<Integer, Message> answers, Source source)
    {
        answers.forEach((block, answer) -> {
            assertThat(answer).isInstanceOf(BlockBytes.class);
            assertThat(((BlockBytes) answer).source()).isEqualTo(source);
            assertThat(WireClient.bytes((BlockBytes) answer)).isEqualTo(stored.block(block));
        });
    }

    private List<S3Request> gets()
    {
        return s3.log().since(mark).stream().filter(S3Request::isGet).toList();
    }

    @Test
    void testFillThenRam()
    {
        worker.start();
        Stored stored = settled.get("table/a b%20c/ü");
        try (WireClient peer = worker.connect()) {
            long first = peer.send(read(stored.file(), MAX_BLOCKS - 11, 11, true));
            assertThat(peer.await(first)).isInstanceOf(Fetching.class);
            assertBlocks(stored, blocks(peer, first, 11), Source.REMOTE);

            long second = peer.send(read(stored.file(), MAX_BLOCKS - 11, 11, true));
            assertBlocks(stored, blocks(peer, second, 11), Source.RAM);
        }
        // eight blocks are a range, the last three another
        assertThat(gets()).extracting(request -> request.range().orElseThrow()).containsExactlyInAnyOrder(
                "bytes=" + (MAX_BLOCKS - 11) * BLOCK_SIZE + "-" + ((MAX_BLOCKS - 3) * BLOCK_SIZE - 1),
                "bytes=" + (MAX_BLOCKS - 3) * BLOCK_SIZE + "-" + (stored.bytes().length - 1));
        assertThat(worker.gauge(CounterNames.ORIGIN_GETS)).isEqualTo(2);
        assertThat(worker.gauge(CounterNames.ORIGIN_BYTES)).isEqualTo(11 * BLOCK_SIZE - 123);
    }

    @Test
    void testTermsOfReads()
    {
        worker.start();
        Stored stored = settled.get("table/terms");
        long before = Instant.now().getEpochSecond();
        try (WireClient peer = worker.connect()) {
            assertBlocks(stored, blocks(peer, peer.send(onTerms(read(stored.file(), 0, 2, true), HIGH, OptionalLong.of(3_600_000))), 2), Source.REMOTE);
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 2, 1, true)), 1), Source.REMOTE);
            List<DescribedBlock> filled = described(peer, stored);
            assertThat(filled).extracting(DescribedBlock::block).containsExactlyInAnyOrder(0, 1, 2);
            assertThat(filled.stream().filter(block -> block.block() < 2)).allSatisfy(block -> {
                assertThat(block.blockClass()).isEqualTo(BlockClass.HIGH.ordinal());
                assertThat(block.expirySeconds()).isBetween(before + 3600, Instant.now().getEpochSecond() + 3600);
            });
            DescribedBlock unsaid = filled.stream().filter(block -> block.block() == 2).findFirst().orElseThrow();
            assertThat(unsaid.blockClass()).isEqualTo(BlockClass.NORMAL.ordinal());
            assertThat(unsaid.expirySeconds()).isGreaterThan(before + 7200);

            // of what is there already the class changes, and the expiry stays; a read that says nothing changes nothing
            assertBlocks(stored, blocks(peer, peer.send(onTerms(read(stored.file(), 2, 1, true), PINNED, OptionalLong.of(60_000))), 1), Source.RAM);
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 0, 1, true)), 1), Source.RAM);
            assertThat(described(peer, stored)).contains(
                    new DescribedBlock(2, BlockClass.PINNED.ordinal(), unsaid.expirySeconds()),
                    filled.stream().filter(block -> block.block() == 0).findFirst().orElseThrow());

            // as clients tell it of blocks that they have seen in shared memory
            peer.send(new Reclassify(NORMAL, List.of(stored.file().id().block(0).digest(), new Digest128(1, 2))));
            assertThat(described(peer, stored).stream().filter(block -> block.block() == 0))
                    .allMatch(block -> block.blockClass() == BlockClass.NORMAL.ordinal());
        }
    }

    @Test
    void testQuotaOfATable()
    {
        worker.start();
        BlockStore store = worker.service().store();
        CacheWorkerId other = new CacheWorkerId("other");
        Stored stored = settled.get("table/quota");
        try (WireClient peer = worker.connect()) {
            // a quarter of the ring's weight, so 5 of 20 blocks
            peer.send(new TableQuota("schema.table", 20 * BLOCK_SIZE));
            HashRing ring = HashRing.of(List.of(new RingMember(store.workerId(), 100, Optional.empty()), new RingMember(other, 300, Optional.empty())));
            peer.ask(new PublishRing(new PublishedRing(ring, Map.of(), 1)));
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 0, MAX_BLOCKS, true)), MAX_BLOCKS), Source.REMOTE);
            TableUsage usage = getOnlyElement(store.quotas().usage());
            assertThat(usage.table()).isEqualTo("schema.table");
            assertThat(usage.quotaBytes()).isEqualTo(20 * BLOCK_SIZE);
            assertThat(usage.shareBytes()).isEqualTo(5 * BLOCK_SIZE);
            assertThat(usage.ramBytes()).isBetween(4L * BLOCK_SIZE + 1, 5L * BLOCK_SIZE);

            // alone again, with all of it
            HashRing alone = HashRing.of(List.of(new RingMember(store.workerId(), 100, Optional.empty())));
            peer.ask(new PublishRing(new PublishedRing(alone, Map.of(), 2)));
            assertThat(blocks(peer, peer.send(read(stored.file(), 0, MAX_BLOCKS, true)), MAX_BLOCKS)).hasSize(MAX_BLOCKS);
            assertThat(getOnlyElement(store.quotas().usage()).ramBytes()).isBetween(19L * BLOCK_SIZE + 1, 20L * BLOCK_SIZE);
        }
        // the worker remembers
        worker.close();
        worker = new TestingWorker(directory).withOrigin("default", s3.clientProperties());
        worker.start();
        try (WireClient peer = worker.connect()) {
            assertThat(getOnlyElement(worker.service().store().quotas().usage()).shareBytes()).isEqualTo(20 * BLOCK_SIZE);
            peer.send(new TableQuota("schema.table", FillTerms.NO_QUOTA));
            peer.ask(new Describe(stored.file().id(), 0, 1));
            assertThat(worker.service().store().quotas().usage()).isEmpty();
        }
    }

    private static OnTerms onTerms(Read read, FillClass fillClass, OptionalLong ttlMillis)
    {
        return new OnTerms(new FillTerms(Optional.of(fillClass), ttlMillis), read);
    }

    private static List<DescribedBlock> described(WireClient peer, Stored stored)
    {
        return ((Description) peer.ask(new Describe(stored.file().id(), 0, MAX_BLOCKS))).blocks();
    }

    @Test
    void testTcp()
            throws Exception
    {
        worker.start();
        Stored stored = settled.get("table/tcp");
        try (WireClient peer = worker.connectTcp()) {
            assertThat(peer.welcome().memoryFile()).isEmpty();
            // a frame is of no use on another host
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 0, 3, false)), 3), Source.REMOTE);
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 1, 2, false)), 2), Source.RAM);
        }
    }

    @Test
    void testPartsOfBlocks()
    {
        worker.start();
        Stored stored = settled.get("table/parts");
        int last = MAX_BLOCKS - 1;
        try (WireClient peer = worker.connect()) {
            // fetched in whole blocks all the same
            assertPart(peer, stored, new Range(0, 1, 1000, BLOCK_SIZE - 1010), Source.REMOTE);
            assertThat(worker.gauge(CounterNames.ORIGIN_BYTES)).isEqualTo(BLOCK_SIZE);
            assertThat(worker.gauge(CounterNames.SENT_BYTES)).isEqualTo(10);
            assertPart(peer, stored, new Range(0, 1, 1000, BLOCK_SIZE - 1010), Source.RAM);
            assertPart(peer, stored, new Range(0, 1, 0, BLOCK_SIZE - 1), Source.RAM);
            assertPart(peer, stored, new Range(0, 1, BLOCK_SIZE - 1, 0), Source.RAM);
            assertPart(peer, stored, new Range(last - 2, 3, 5, BLOCK_SIZE - 124), Source.REMOTE);
            assertPart(peer, stored, new Range(last - 2, 3, 5, BLOCK_SIZE - 124), Source.RAM);
            assertPart(peer, stored, new Range(last, 1, 7, BLOCK_SIZE - 123 - 8), Source.RAM);
            // nothing, less than nothing, more than there is
            for (Range range : List.of(
                    new Range(0, 1, BLOCK_SIZE, 0),
                    new Range(0, 1, 0, BLOCK_SIZE),
                    new Range(0, 1, 10, BLOCK_SIZE - 10),
                    new Range(0, 1, 10, BLOCK_SIZE - 9),
                    new Range(0, 2, BLOCK_SIZE, 0),
                    new Range(0, 1, -1, 0),
                    new Range(0, 1, 0, -1),
                    new Range(0, 1, Integer.MAX_VALUE, 2),
                    new Range(last, 1, 0, BLOCK_SIZE - 123))) {
                assertThat(peer.ask(part(stored, range))).as(range.toString()).isInstanceOf(ControlMessage.Error.class);
            }
        }
    }

    private static Read part(Stored stored, Range range)
    {
        return new Read(0, stored.file(), range, true, true, false, new RingEpoch(1), "schema.table");
    }

    private static void assertPart(WireClient peer, Stored stored, Range range, Source source)
    {
        blocks(peer, peer.send(part(stored, range)), range.blockCount()).forEach((block, answer) -> {
            byte[] bytes = stored.block(block);
            BlockBytes part = (BlockBytes) answer;
            assertThat(part.source()).isEqualTo(source);
            assertThat(part.checksums().offset()).isEqualTo(block == range.firstBlock() ? range.skip() : 0);
            int end = bytes.length - (block == range.firstBlock() + range.blockCount() - 1 ? range.omit() : 0);
            assertThat(WireClient.bytes(part)).isEqualTo(Arrays.copyOfRange(bytes, part.checksums().offset(), end));
            PieceVerifier verifier = new PieceVerifier(part.checksums());
            verifier.update(part.payload());
            assertThat(verifier.isVerified()).isTrue();
        });
    }

    @Test
    void testDamagedBlockIsNotSentAndLeavesRam()
            throws Exception
    {
        worker.start();
        Stored stored = settled.get("table/damaged");
        try (WireClient peer = worker.connect()) {
            BlockFrame frame = (BlockFrame) blocks(peer, peer.send(read(stored.file(), 0, 1, false)), 1).get(0);
            try (RandomAccessFile memory = new RandomAccessFile(worker.service().store().memoryFile().toFile(), "rw")) {
                memory.seek(frame.frameOffset() + 50_000);
                memory.write(stored.bytes()[50_000] ^ 1);
            }
            assertThat(blocks(peer, peer.send(part(stored, new Range(0, 1, 100, 100))), 1).get(0)).isEqualTo(new BlockNo(0, NoCause.CORRUPT));
            // from SSD, or from the origin again
            BlockBytes again = (BlockBytes) blocks(peer, peer.send(part(stored, new Range(0, 1, 100, 100))), 1).get(0);
            assertThat(again.source()).isNotEqualTo(Source.RAM);
            assertThat(WireClient.bytes(again)).isEqualTo(Arrays.copyOfRange(stored.bytes(), 100, BLOCK_SIZE - 100));
        }
    }

    @Test
    void testSingleFlight()
    {
        worker.start();
        Stored stored = settled.get("table/single-flight");
        List<WireClient> peers = new ArrayList<>();
        try (S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "table/"))) {
            Map<WireClient, Long> requests = new HashMap<>();
            for (int i = 0; i < 8; i++) {
                WireClient peer = worker.connect("catalog" + i, worker.origins());
                peers.add(peer);
                long request = peer.send(read(stored.file(), 0, 1, true));
                assertThat(peer.await(request)).isInstanceOf(Fetching.class);
                requests.put(peer, request);
            }
            hold.awaitHeld(1, Await.DEADLINE);
            hold.release();
            requests.forEach((peer, request) -> assertBlocks(stored, blocks(peer, request, 1), Source.REMOTE));
        }
        finally {
            peers.forEach(WireClient::close);
        }
        assertThat(gets()).hasSize(1);
    }

    @Test
    void testBlocksQueuedMeanwhileAreJoined()
    {
        worker.withMaxRequestsPerBucket(1).start();
        Stored stored = settled.get("table/joined");
        try (WireClient peer = worker.connect(); S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "table/"))) {
            long first = peer.send(read(stored.file(), 8, 1, true));
            hold.awaitHeld(1, Await.DEADLINE);
            // one by one, out of order, while the only request of the bucket is out
            List<Long> requests = new ArrayList<>();
            for (int block : new int[] {3, 1, 0, 2, 5, 4}) {
                requests.add(peer.send(read(stored.file(), block, 1, true)));
            }
            requests.forEach(request -> assertThat(peer.await(request)).isInstanceOf(Fetching.class));
            hold.release();
            assertBlocks(stored, blocks(peer, first, 1), Source.REMOTE);
            requests.forEach(request -> assertBlocks(stored, blocks(peer, request, 1), Source.REMOTE));
        }
        assertThat(gets()).extracting(request -> request.range().orElseThrow()).containsExactly(
                "bytes=" + 8 * BLOCK_SIZE + "-" + (9 * BLOCK_SIZE - 1),
                "bytes=0-" + (6 * BLOCK_SIZE - 1));
    }

    @Test
    void testIfMatch()
    {
        worker.start();
        Stored stored = settled.get("table/replaced");
        try (WireClient peer = worker.connect()) {
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 0, 1, true)), 1), Source.REMOTE);
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 2, 1, true)), 1), Source.REMOTE);

            // another object under the same name: its blocks are not this version's
            put("table/replaced", stored.bytes().length, 100);
            Message answer = blocks(peer, peer.send(read(stored.file(), 1, 1, true)), 1).get(1);
            assertThat(answer).isEqualTo(new BlockNo(1, NoCause.VERSION_GONE));
            assertThat(worker.gauge(CounterNames.VERSION_CHANGES)).isEqualTo(1);
            // and what was there before is dropped
            Read cachedOnly = new Read(0, stored.file(), Range.ofBlocks(0, 1), true, false, false, new RingEpoch(1), "schema.table");
            assertThat(peer.ask(cachedOnly)).isEqualTo(new BlockNo(0, NoCause.ABSENT));
        }
        List<S3Request> gets = gets();
        assertThat(gets.get(0).ifMatch()).isEmpty();
        assertThat(gets.get(1).ifMatch()).isPresent();
        assertThat(gets.get(2).ifMatch()).isEqualTo(gets.get(1).ifMatch());
        assertThat(gets.get(2).status()).isEqualTo(412);
    }

    @Test
    void testOtherVersionIsNotKept()
    {
        worker.start();
        Stored stored = settled.get("table/other");
        FileVersion file = stored.file();
        List<FileVersion> others = List.of(
                new FileVersion(file.origin(), file.location(), file.length() + 1, file.lastModifiedMillis()),
                new FileVersion(file.origin(), file.location(), file.length() - 1, file.lastModifiedMillis()),
                new FileVersion(file.origin(), file.location(), file.length(), file.lastModifiedMillis() - 5000),
                new FileVersion(file.origin(), file.location() + ".missing", file.length(), file.lastModifiedMillis()));
        try (WireClient peer = worker.connect()) {
            for (FileVersion other : others) {
                assertThat(blocks(peer, peer.send(read(other, 0, 1, true)), 1).get(0)).isEqualTo(new BlockNo(0, NoCause.VERSION_GONE));
            }
        }
        assertThat(worker.gauge(CounterNames.RAM_BLOCKS)).isZero();
    }

    @Test
    void testRetriesWhenTheOriginIsBusy()
    {
        worker.start();
        Stored stored = settled.get("table/busy");
        // Of this seed the first, third and fifth number are below a half, and none of the next eleven: each of the five ranges is refused once at most. A range that is
        // refused often is given up.
        s3.setFaults(S3Faults.NONE.withUnavailableShare(0.5, 93902));
        try (WireClient peer = worker.connect()) {
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 0, 40, true)), 40), Source.REMOTE);
        }
        assertThat(gets().stream().filter(request -> request.status() == 206)).hasSize(5);
    }

    @Test
    void testCancel()
    {
        worker.withMaxRequestsPerBucket(1).start();
        Stored stored = settled.get("table/cancel");
        try (WireClient peer = worker.connect(); S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "table/"))) {
            long running = peer.send(read(stored.file(), 0, 8, true));
            hold.awaitHeld(1, Await.DEADLINE);
            long waiting = peer.send(read(stored.file(), 8, 16, true));
            assertThat(peer.await(waiting)).isInstanceOf(Fetching.class);
            peer.send(new Cancel(running));
            peer.send(new Cancel(waiting));
            // a later answer of the same connection: the cancels have been read
            peer.ask(new StatusMessage.Ping());
            assertThat(worker.gauge(CounterNames.ACTIVE_REQUESTS)).isZero();
            hold.release();
            // the request under way is paid for and kept, the others are never made
            Await.until("the fetch under way ends", () -> worker.gauge(CounterNames.RAM_BLOCKS) == 8 && worker.gauge(CounterNames.EXTRA_BYTES) == 8L * BLOCK_SIZE);
            assertBlocks(stored, blocks(peer, peer.send(read(stored.file(), 0, 8, true)), 8), Source.RAM);
            assertThat(peer.hasAnswer(running)).as("only the word that it is fetching").isTrue();
        }
        assertThat(gets()).hasSize(1);
        assertThat(worker.gauge(CounterNames.EXTRA_BYTES)).isEqualTo(8L * BLOCK_SIZE);
    }

    /**
     * A preload that is not taken may be taken later: whoever asks is not told that it failed.
     */
    @Test
    void testPreloadThatIsNotTakenNow()
    {
        // the origin refuses, and is asked again, until all preloads are there: a request that is held would be given up
        Map<String, String> properties = new HashMap<>(s3.clientProperties());
        properties.put("s3.max-error-retries", "100000");
        worker.withOrigin("default", properties).withMaxRequestsPerBucket(1).start();
        s3.setFaults(S3Faults.NONE.withUnavailableShare(1, 1));
        Stored stored = settled.get("table/preload");
        PreloadMessage.Preload preload = new PreloadMessage.Preload(0, stored.file(), 2L * BLOCK_SIZE, 1, new RingEpoch(1), "t");
        try (WireClient peer = worker.connect()) {
            List<Long> taken = new ArrayList<>();
            for (int i = 0; i < RequestDispatcher.MAX_ACTIVE_REQUESTS; i++) {
                taken.add(peer.send(preload));
            }
            assertThat(peer.ask(preload)).isEqualTo(new BlockNo(2, NoCause.OVERLOADED));
            s3.setFaults(S3Faults.NONE);
            for (long request : taken) {
                assertThat(peer.await(request)).isInstanceOf(PreloadMessage.Preloaded.class);
            }
            assertThat(peer.ask(preload)).isEqualTo(new PreloadMessage.Preloaded(0, BLOCK_SIZE, 0, Optional.empty()));
        }
    }

    @Test
    void testBadRequests()
    {
        worker.start();
        Stored stored = settled.get("table/bad");
        try (WireClient peer = worker.connect()) {
            assertThat(peer.ask(read(stored.file(), MAX_BLOCKS - 1, 2, true))).isInstanceOf(ControlMessage.Error.class);
            assertThat(peer.ask(read(stored.file(), -1, 1, true))).isInstanceOf(ControlMessage.Error.class);
            assertThat(peer.ask(read(stored.file(), 0, 0, true))).isInstanceOf(ControlMessage.Error.class);
            assertThat(peer.ask(read(stored.file(), Integer.MAX_VALUE, 1, true))).isInstanceOf(ControlMessage.Error.class);
            FileVersion huge = new FileVersion(stored.file().origin(), stored.file().location(), Long.MAX_VALUE, 0);
            assertThat(peer.ask(read(huge, Integer.MAX_VALUE, 1, true))).isInstanceOf(ControlMessage.Error.class);
            assertThat(peer.ask(new PreloadMessage.Preload(0, huge, 0, Long.MAX_VALUE, new RingEpoch(1), "t"))).isInstanceOf(ControlMessage.Error.class);
            Read unknownOrigin = new Read(1, stored.file(), Range.ofBlocks(0, 1), true, true, false, new RingEpoch(1), "schema.table");
            assertThat(peer.ask(unknownOrigin)).isInstanceOf(ControlMessage.Error.class);
            // the connection goes on
            assertThat(peer.ask(new StatusMessage.Ping())).isInstanceOf(StatusMessage.Pong.class);
        }
    }
}
