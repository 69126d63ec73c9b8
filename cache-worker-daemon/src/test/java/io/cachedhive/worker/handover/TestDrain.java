package io.cachedhive.worker.handover;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.HandOverMessage.HandOver;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.handover.Drain.OpenRequest;
import io.cachedhive.worker.handover.Drain.Progress;
import io.cachedhive.worker.handover.Drain.State;
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

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A worker that leaves, over real sockets and with a real S3 server.
 */
@Timeout(180)
@TestInstance(Lifecycle.PER_CLASS)
@Tag("slow")
class TestDrain
{
    private static final int BLOCKS = 100;
    // longer than a test may take: a worker that waits for it fails the test
    private static final Duration DEADLINE = Duration.ofHours(1);

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

    private Drain drain(String worker)
    {
        return fleet.worker(worker).service().drain();
    }

    private StoredFile warmFile(String key, long seed)
    {
        StoredFile file = lake.putSettled(key, BLOCKS * BLOCK_SIZE - 5, seed);
        fleet.scan(file);
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
        return file;
    }

    private void awaitState(String worker, State state)
    {
        Await.until("%s is %s".formatted(worker, state), () -> drain(worker).progress().state() == state);
    }

    @Test
    void testNothingLeavesTheZone()
    {
        fleet.start("a", Optional.of("here"));
        fleet.start("b", Optional.of("here"));
        fleet.start("c", Optional.of("there"));
        fleet.publish("a", "b", "c");
        StoredFile file = lake.putSettled("zones/file", BLOCKS * BLOCK_SIZE - 5, 7);
        // as readers in its zone ask for what owners elsewhere have as well
        fleet.read("a", file, 0, BLOCKS);

        drain("a").start(DEADLINE);
        awaitState("a", State.WAITING_FOR_RING);
        fleet.publish("b", "c");
        Await.until("it has left", () -> drain("a").ended().isDone());
        assertThat(fleet.worker("b").gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED)).isEqualTo(BLOCKS);
        assertThat(fleet.worker("c").gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED)).isZero();
    }

    @Test
    void testNewOwnerKeepsOnlyAllowedLocations()
    {
        fleet.start("a");
        fleet.withAllowedLocations("s3://" + Lake.BUCKET + "/allowed/");
        fleet.start("b");
        fleet.publish("a");
        warmFile("allowed/file", 31);
        warmFile("secret/file", 32);
        fleet.publish("a", "b");

        drain("a").start(DEADLINE);
        awaitState("a", State.WAITING_FOR_RING);
        fleet.publish("b");
        Await.until("it has left", () -> drain("a").ended().isDone());
        assertThat(fleet.worker("b").gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED)).isEqualTo(BLOCKS);
        assertThat(fleet.worker("b").gauge(CounterNames.RAM_BLOCKS)).isEqualTo(BLOCKS);
    }

    @Test
    void testNewOwnersHaveTheBlocks()
    {
        for (String name : List.of("a", "b", "c")) {
            fleet.start(name);
        }
        fleet.publish("a", "b", "c");
        StoredFile file = warmFile("drained/file", 1);
        List<Integer> of = fleet.ownedBy("a", file);
        assertThat(of).isNotEmpty();
        long mark = lake.s3().log().mark();

        drain("a").start(DEADLINE);
        assertThat(fleet.worker("a").service().status().pong().state()).isEqualTo("DRAINING");
        awaitState("a", State.WAITING_FOR_RING);
        fleet.publish("b", "c");
        Await.until("it has left", () -> drain("a").ended().isDone());
        Progress progress = drain("a").progress();
        assertThat(progress).isEqualTo(new Progress(State.ENDED, progress.millisLeft(), of.size(), of.size()));
        assertThat(fleet.worker("a").gauge(CounterNames.HANDOVER_BLOCKS_SENT)).isEqualTo(of.size());

        fleet.stop("a");
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
        assertThat(lake.getsSince(mark)).isEmpty();
        assertThat(lake.headsSince(mark)).isZero();
        assertThat(fleet.worker("b").gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED) + fleet.worker("c").gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED)).isEqualTo(of.size());
    }

    /**
     * When a host leaves, its Trino worker goes first: then the next owners read its blocks from it, and keep them as guests just before they are handed over.
     */
    @Test
    void testGuestsAreTakenOver()
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("a", "b");
        // of the one file the new owner has other blocks of its own, of the other nothing
        StoredFile large = warmFile("guests/large", 20);
        List<StoredFile> small = IntStream.range(0, 20)
                .mapToObj(i -> lake.putSettled("guests/small-" + i, 1000, 21 + i))
                .filter(file -> fleet.owner(file, 0).equals("a"))
                .toList();
        assertThat(small).isNotEmpty();
        small.forEach(fleet::scan);
        fleet.ownedBy("a", large).forEach(block -> offerGuest("b", large, block));
        small.forEach(file -> offerGuest("b", file, 0));
        int of = fleet.ownedBy("a", large).size() + small.size();
        assertThat(fleet.worker("b").gauge(CounterNames.GUEST_BYTES)).isPositive();

        drain("a").start(DEADLINE);
        fleet.publish("b");
        Await.until("it has left", () -> drain("a").ended().isDone());
        assertThat(fleet.worker("b").gauge(CounterNames.HANDOVER_BLOCKS_RECEIVED)).isEqualTo(of);
        assertThat(drain("a").progress().givenBlocks()).isEqualTo(of);
        assertThat(fleet.worker("b").gauge(CounterNames.GUEST_BYTES)).as("bytes that are guests still").isZero();
        fleet.stop("a");
        assertThat(fleet.scan(large)).isEqualTo(Map.of(Source.RAM, BLOCKS));
        small.forEach(file -> assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, 1)));
    }

    private void offerGuest(String worker, StoredFile file, int block)
    {
        byte[] bytes = file.block(block);
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        long etagDigest = fleet.worker("a").service().store().file(file.file().id()).orElseThrow().etagDigest();
        assertThat(fleet.worker(worker).service().store().offerGuest(file.file(), block, "schema.table", etagDigest, (int) checksum.getValue(), ByteBuffer.wrap(bytes))).isTrue();
    }

    @Test
    void testItServesAllTheTime()
            throws Exception
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("a", "b");
        StoredFile file = warmFile("serving/file", 2);
        List<Integer> of = fleet.ownedBy("a", file);
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger reads = new AtomicInteger();
        try (WireClient reader = fleet.worker("a").connect()) {
            Thread thread = Thread.ofPlatform().start(() -> {
                while (!stop.get()) {
                    TestingFleet.read(reader, file, of.get(reads.getAndIncrement() % of.size()), 1)
                            .values()
                            .forEach(answer -> assertThat(answer.source()).contains(Source.RAM));
                }
            });
            drain("a").start(DEADLINE);
            fleet.publish("b");
            awaitState("a", State.FINISHING);
            int before = reads.get();
            Await.until("reads go on", () -> reads.get() > before + 100);
            assertThat(drain("a").ended()).isNotDone();
            stop.set(true);
            thread.join();
        }
        Await.until("it leaves when nobody reads", () -> drain("a").ended().isDone());
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
    }

    @Test
    void testOnSsdToo()
    {
        fleet.withSsd(64 << 20);
        fleet.start("a");
        fleet.publish("a");
        StoredFile file = lake.putSettled("ssd/file", 600 * BLOCK_SIZE, 3);
        fleet.scan(file);
        Await.until("all is on SSD", () -> {
            // what came faster than a busy disk took it is written when it is read again
            fleet.scan(file);
            return fleet.worker("a").gauge(CounterNames.SSD_BLOCKS) == 600;
        });
        assertThat(fleet.worker("a").gauge(CounterNames.RAM_BLOCKS)).isLessThan(550);
        long mark = lake.s3().log().mark();
        fleet.start("b");
        fleet.publish("a");
        drain("a").start(DEADLINE);
        fleet.publish("b");
        Await.until("it has left", () -> drain("a").ended().isDone());
        fleet.stop("a");
        Map<Source, Integer> sources = fleet.scan(file);
        System.out.println("after the hand-over of 600 blocks: " + sources);
        assertThat(sources.getOrDefault(Source.REMOTE, 0)).isLessThanOrEqualTo(600 * 5 / 100);
        assertThat(lake.getsSince(mark)).hasSizeLessThanOrEqualTo(600 * 5 / 100);
    }

    @Test
    void testDeadline()
    {
        fleet.start("a");
        fleet.add("fake", FakePeer.start("silent", (_, _) -> {}));
        fleet.publish("a");
        warmFile("deadline/file", 4);
        Duration deadline = Duration.ofSeconds(2);
        long start = System.nanoTime();
        drain("a").start(deadline);
        fleet.publish("fake");
        Await.until("it gives up", () -> drain("a").ended().isDone());
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(deadline);
        assertThat(drain("a").progress().givenBlocks()).isZero();
    }

    @Test
    void testEarlierDeadlineWhileLotsAreUnderWay()
            throws Exception
    {
        fleet.start("a");
        CountDownLatch asked = new CountDownLatch(1);
        fleet.add("fake", FakePeer.start("silent", (_, request) -> {
            if (request instanceof HandOver) {
                asked.countDown();
            }
        }));
        fleet.publish("a");
        warmFile("earlier/file", 8);
        drain("a").start(Duration.ofMinutes(10));
        fleet.publish("fake");
        asked.await();
        Await.until("the drain waits for the reply", () -> Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("drain") && thread.getState() == Thread.State.TIMED_WAITING));
        drain("a").start(Duration.ofMillis(300));
        // a lot has 30 s for its reply
        Await.until("it gives up", Duration.ofSeconds(20), () -> drain("a").ended().isDone());
        assertThat(drain("a").progress().givenBlocks()).isZero();
    }

    @Test
    void testNewOwnerRefuses()
    {
        fleet.start("a");
        AtomicInteger named = new AtomicInteger();
        fleet.add("fake", FakePeer.start("refusing", (exchange, request) -> {
            if (request instanceof HandOver handOver) {
                handOver.files().forEach(blocks -> named.addAndGet(blocks.blocks().size()));
                exchange.send(new ControlMessage.Error("no"));
            }
        }));
        fleet.publish("a");
        warmFile("refused/file", 5);
        drain("a").start(DEADLINE);
        fleet.publish("fake");
        Await.until("it leaves", () -> drain("a").ended().isDone());
        assertThat(named).hasValue(BLOCKS);
        assertThat(drain("a").progress().givenBlocks()).isZero();
    }

    @Test
    void testNoRingComes()
    {
        fleet.start("a");
        fleet.publish("a");
        drain("a").start(DEADLINE);
        awaitState("a", State.WAITING_FOR_RING);
        assertThat(drain("a").progress().millisLeft()).isBetween(DEADLINE.toMillis() / 2, DEADLINE.toMillis());
        // the second call is another deadline
        drain("a").start(Duration.ofMillis(300));
        Await.until("it leaves", () -> drain("a").ended().isDone());
    }

    /**
     * However early the drain ends, the process exits only when the requests for it are answered.
     */
    @Test
    void testAnswersBeforeItLeaves()
    {
        fleet.start("a");
        fleet.publish("a");
        OpenRequest first = drain("a").openRequest();
        OpenRequest second = drain("a").openRequest();
        assertThat(drain("a").start(Duration.ZERO).state()).isEqualTo(State.WAITING_FOR_RING);
        awaitState("a", State.ENDED);
        assertThat(drain("a").ended()).isNotDone();
        first.close();
        assertThat(drain("a").ended()).isNotDone();
        second.close();
        assertThat(drain("a").ended()).isDone();
    }

    @Test
    void testStaysAfterAll()
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("a", "b");
        StoredFile file = warmFile("stays/file", 6);
        drain("a").start(Duration.ofMinutes(10));
        awaitState("a", State.WAITING_FOR_RING);
        assertThat(drain("a").cancel()).isTrue();
        assertThat(drain("a").progress()).isEqualTo(new Progress(State.NOT_LEAVING, 0, 0, 0));
        assertThat(fleet.worker("a").service().status().pong().state()).isEqualTo("RUNNING");
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));

        // and leaves another time
        drain("a").start(DEADLINE);
        fleet.publish("b");
        Await.until("it has left", () -> drain("a").ended().isDone());
        assertThat(drain("a").cancel()).isFalse();
        assertThat(fleet.scan(file)).isEqualTo(Map.of(Source.RAM, BLOCKS));
    }

    @Test
    void testOneThatLeavesTakesNothing()
    {
        fleet.start("a");
        fleet.start("b");
        fleet.publish("a", "b");
        try (WireClient client = fleet.worker("b").connect()) {
            assertThat(client.ask(new HandOver(new CacheWorkerId("stranger"), List.of())).toString()).contains("stranger has no address");
            drain("b").start(Duration.ofMinutes(1));
            assertThat(client.ask(new HandOver(fleet.id("a"), List.of())).toString()).contains("draining itself");
        }
    }
}
