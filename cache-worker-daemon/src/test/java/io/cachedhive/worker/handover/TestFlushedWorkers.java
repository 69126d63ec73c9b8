package io.cachedhive.worker.handover;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.InvalidationMessage;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import io.cachedhive.protocol.wire.ListingMessage;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.protocol.wire.PinMessage;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.handover.TestingFleet.Answer;
import io.cachedhive.worker.testing.FakePeer;
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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is flushed is gone from every worker, also from one that was away, over real sockets and with a real S3 server.
 */
@Timeout(180)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("slow")
class TestFlushedWorkers
{
    private static final int BLOCKS = 24;
    private static final Digest128 ZERO = new Digest128(0, 0);

    private Lake lake;
    private Path directory;
    private TestingFleet fleet;
    private long nextId = 1;

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
        this.directory = directory;
        fleet = new TestingFleet(directory, lake);
        fleet.withSsd(64 << 20);
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

    /**
     * A file of which the worker owns blocks: the workers' ids are random, and so is whose a file's blocks are.
     */
    private StoredFile putOwnedBy(String worker, String prefix, long seed)
    {
        return IntStream.range(0, 10)
                .mapToObj(i -> put("%sfile-%s".formatted(prefix, i), seed + i))
                .filter(file -> !fleet.ownedBy(worker, file).isEmpty())
                .findFirst()
                .orElseThrow();
    }

    private Tombstone tombstone(String prefix)
    {
        return new Tombstone(new Digest128(nextId++, 5), lake.originId(), "s3://%s/%s".formatted(Lake.BUCKET, prefix), System.currentTimeMillis());
    }

    private Flushed flush(String worker, Tombstone... tombstones)
    {
        try (WireClient client = fleet.worker(worker).connect()) {
            return (Flushed) client.ask(new InvalidationMessage.Flush(List.of(tombstones), true));
        }
    }

    private List<Tombstone> known(String worker)
    {
        try (WireClient client = fleet.worker(worker).connect()) {
            return ((InvalidationMessage.Tombstones) client.ask(new InvalidationMessage.GetTombstones(ZERO, ZERO))).tombstones();
        }
    }

    private void awaitKnown(String worker, Tombstone tombstone)
    {
        Await.until("%s knows what is flushed".formatted(worker), () -> known(worker).contains(tombstone));
    }

    private void awaitOnSsd(String worker, long blocks)
    {
        Await.until("%s blocks of %s are on SSD".formatted(blocks, worker), () -> fleet.worker(worker).service().store().gauges().ssdBlocks() >= blocks);
    }

    @Test
    void testNothingIsServedFromTheCache()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile flushed = put("flushed/file", 1);
        StoredFile kept = put("flushed-not/file", 2);
        fleet.scan(flushed);
        fleet.scan(kept);
        awaitOnSsd("a", 2 * BLOCKS);

        assertThat(flush("a", tombstone("flushed/"))).isEqualTo(new Flushed(1, Optional.empty()));

        assertThat(fleet.worker("a").service().store().gauges().ssdBlocks()).isEqualTo(BLOCKS);
        long mark = lake.s3().log().mark();
        assertThat(fleet.scan(kept)).containsOnlyKeys(Source.RAM);
        assertThat(lake.getsSince(mark)).isEmpty();
        assertThat(fleet.scan(flushed)).containsOnlyKeys(Source.REMOTE);
        assertThat(fleet.scan(flushed)).containsOnlyKeys(Source.RAM);
    }

    @Test
    void testListsFilesInSlices()
    {
        fleet.start("a");
        fleet.publish("a");
        List<StoredFile> files = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            StoredFile file = lake.putSettled("listed/" + i, 2 * BLOCK_SIZE - 9, 100 + i);
            fleet.scan(file);
            files.add(file);
        }
        TestingWorker worker = fleet.worker("a");
        assertThat(worker.service().store().contents().cachedFiles(0, 0, 39)).describedAs("too many").isEmpty();
        assertThat(worker.service().store().contents().cachedFiles(0, 0, 40).orElseThrow()).hasSize(40);
        List<ListingMessage.ListedFile> listed = new ArrayList<>();
        try (WireClient client = worker.connect()) {
            for (long slice = 0; slice < 8; slice++) {
                long prefix = slice << 61;
                ListingMessage.Files some = (ListingMessage.Files) client.ask(new ListingMessage.GetFiles(3, prefix));
                assertThat(some.complete()).isTrue();
                assertThat(some.files()).allMatch(file -> (file.file().id().digest().high() ^ prefix) >>> 61 == 0);
                listed.addAll(some.files());
            }
        }
        assertThat(listed.stream().map(ListingMessage.ListedFile::file)).containsExactlyInAnyOrderElementsOf(files.stream().map(StoredFile::file).toList());
        assertThat(listed).allMatch(file -> file.cachedBytes() == 2 * BLOCK_SIZE - 9 && file.ramBytes() == file.cachedBytes() && file.table().equals("schema.table"));
        // files are looked through at the beginning of a listing, and not for each slice
        StoredFile late = lake.putSettled("listed/late", BLOCK_SIZE, 99);
        fleet.scan(late);
        long prefix = late.file().id().digest().high();
        assertThat(worker.service().store().contents().cachedFiles(3, prefix, 100).orElseThrow()).noneMatch(file -> file.metadata().version().equals(late.file()));
        assertThat(worker.service().store().contents().cachedFiles(0, 0, 100).orElseThrow()).anyMatch(file -> file.metadata().version().equals(late.file()));
        assertThat(worker.service().store().contents().cachedFiles(3, prefix, 100).orElseThrow()).anyMatch(file -> file.metadata().version().equals(late.file()));
        // of another store than the connection's there is nothing to be said
        try (WireClient stranger = worker.connect("lake", List.of(WireClient.origin("other", new OriginId(new Digest128(7, 7)))))) {
            assertThat(((ListingMessage.Files) stranger.ask(new ListingMessage.GetFiles(0, 0))).files()).isEmpty();
        }
    }

    @Test
    void testSameFlushIsDoneOnce()
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("once/file", 3);
        fleet.scan(file);
        Tombstone tombstone = tombstone("once/");
        assertThat(flush("a", tombstone).files()).isEqualTo(1);
        fleet.scan(file);
        assertThat(flush("a", tombstone).files()).isZero();
        assertThat(fleet.scan(file)).containsOnlyKeys(Source.RAM);
        // nor is it done again after a restart
        fleet.stop("a");
        fleet.start("a");
        assertThat(known("a")).containsExactly(tombstone);
        assertThat(fleet.worker("a").service().store().file(file.file().id())).isPresent();
        assertThat(flush("a", tombstone("once/file")).files()).describedAs("a whole location").isEqualTo(1);
    }

    @Test
    void testWorkerThatWasDown()
    {
        String up = "a";
        String down = "b";
        fleet.start(up);
        fleet.start(down);
        fleet.publish(up, down);
        StoredFile file = putOwnedBy(down, "away/", 400);
        StoredFile kept = putOwnedBy(down, "stays/", 500);
        fleet.scan(file);
        fleet.scan(kept);
        List<Integer> owned = fleet.ownedBy(down, file);
        List<Integer> keptOwned = fleet.ownedBy(down, kept);
        awaitOnSsd(down, owned.size() + keptOwned.size());
        fleet.stop(down);

        Tombstone tombstone = tombstone("away/");
        assertThat(flush(up, tombstone).problem()).isEmpty();
        fleet.start(down);

        // nothing is asked of it before what was flushed is gone
        Answer answer = fleet.read(down, file, owned.getFirst());
        while (answer.no().equals(Optional.of(NoCause.UNAVAILABLE))) {
            answer = fleet.read(down, file, owned.getFirst());
        }
        assertThat(answer.source()).contains(Source.REMOTE);
        assertThat(known(down)).containsExactly(tombstone);
        assertThat(fleet.read(down, kept, keptOwned.getFirst()).source()).contains(Source.SSD);
        assertThat(flush(down, tombstone("away/")).files()).describedAs("what was read again").isEqualTo(1);
    }

    /**
     * The only other cache worker cannot answer the first requests.
     */
    @Test
    void testWorkerAsksAgainBeforeItServes()
    {
        fleet.start("b");
        List<Tombstone> flushed = new CopyOnWriteArrayList<>();
        AtomicInteger refusals = new AtomicInteger();
        FakePeer other = FakePeer.start("other", (exchange, request) -> {
            switch (request) {
                case InvalidationMessage.GetTombstones _ when refusals.getAndDecrement() > 0 -> exchange.send(new ControlMessage.Error("it is starting"));
                case InvalidationMessage.GetTombstones _ -> exchange.send(new InvalidationMessage.Tombstones(
                        flushed.stream().map(Tombstone::id).reduce(ZERO, (one, next) -> new Digest128(one.high() ^ next.high(), one.low() ^ next.low())),
                        List.copyOf(flushed)));
                case PinMessage.GetPins _ -> exchange.send(new PinMessage.Pins(ZERO, List.of()));
                default -> exchange.send(new ControlMessage.Error("it has nothing"));
            }
        });
        fleet.add("other", other);
        fleet.publish("b");
        StoredFile file = put("before/file", 40);
        fleet.scan(file);
        awaitOnSsd("b", BLOCKS);
        Tombstone tombstone = tombstone("before/");
        fleet.publish("b", "other");
        fleet.stop("b");
        refusals.set(2);
        flushed.add(tombstone);
        fleet.start("b");
        Answer answer = fleet.read("b", file, 0);
        while (answer.no().equals(Optional.of(NoCause.UNAVAILABLE))) {
            answer = fleet.read("b", file, 0);
        }
        assertThat(answer.source()).contains(Source.REMOTE);
        assertThat(known("b")).contains(tombstone);
    }

    @Test
    void testWorkerThatWasDownHasNoBlockLeft()
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("a", "b");
        StoredFile file = put("bytes/file", 6);
        fleet.scan(file);
        awaitOnSsd("b", fleet.ownedBy("b", file).size());
        fleet.stop("b");
        Tombstone tombstone = tombstone("bytes/");
        flush("a", tombstone);
        fleet.start("b");
        awaitKnown("b", tombstone);
        assertThat(fleet.worker("a").service().store().file(file.file().id())).isEmpty();
        assertThat(fleet.worker("b").service().store().file(file.file().id())).isEmpty();
        assertThat(fleet.worker("b").service().store().gauges().ssdBlocks()).isZero();
    }

    @Test
    void testStartsEmptyWhenNobodyKnowsWhatWasFlushed()
            throws IOException
    {
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = put("unknown/file", 9);
        fleet.scan(file);
        awaitOnSsd("a", BLOCKS);
        flush("a", tombstone("another/"));
        fleet.stop("a");
        Path book = directory.resolve("a/state/tombstones");
        byte[] content = Files.readAllBytes(book);
        content[20] ^= 1;
        Files.write(book, content);
        fleet.start("a");
        Answer answer = fleet.read("a", file, 0);
        while (answer.no().equals(Optional.of(NoCause.UNAVAILABLE))) {
            answer = fleet.read("a", file, 0);
        }
        assertThat(answer.source()).contains(Source.REMOTE);
        assertThat(known("a")).isEmpty();
        // from now on it knows again
        fleet.stop("a");
        fleet.start("a");
        assertThat(fleet.read("a", file, 0).source()).contains(Source.SSD);
    }

    @Test
    void testReachesOthersWithoutBeingSaid()
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("a", "b");
        StoredFile file = put("told/file", 7);
        fleet.scan(file);
        Tombstone tombstone = tombstone("told/");
        flush("a", tombstone);
        awaitKnown("b", tombstone);
        assertThat(fleet.worker("b").service().store().file(file.file().id())).isEmpty();
    }

    @Test
    void testNothingIsTakenOverFromOneWhoDoesNotKnow()
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("b");
        // the workers' ids are random, and so is whose a file's blocks are
        List<StoredFile> files = IntStream.range(0, 10).mapToObj(i -> put("taken/file-" + i, 8 + i)).toList();
        for (StoredFile each : files) {
            assertThat(fleet.scan(each)).containsOnlyKeys(Source.REMOTE);
        }
        fleet.publish("a", "b");
        StoredFile file = files.stream().filter(each -> fleet.ownedBy("a", each).size() > 2).findFirst().orElseThrow();
        List<Integer> moved = fleet.ownedBy("a", file);
        assertThat(fleet.read("a", file, moved.getFirst()).source()).describedAs("before").contains(Source.PEER);

        flush("a", tombstone("taken/"));
        // b has it still, or was told meanwhile
        for (int block : moved) {
            assertThat(fleet.read("a", file, block).source()).contains(Source.REMOTE);
        }
    }
}
