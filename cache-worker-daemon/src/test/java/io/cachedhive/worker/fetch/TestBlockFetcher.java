package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.Fill;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.BlockFetcher.BucketState;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.origin.AllowedLocations;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.OriginHealth;
import io.cachedhive.worker.origin.S3ObjectLocation;
import io.cachedhive.worker.testing.InMemorySource;
import io.cachedhive.worker.testing.InMemorySource.Get;
import io.cachedhive.worker.testing.ManualTimer;
import io.cachedhive.worker.testing.TestingStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The fetcher over an origin on the heap, with a clock that is moved by hand and requests that run when the test says so.
 */
class TestBlockFetcher
{
    private static final Instant START = Instant.parse("2026-03-01T12:00:00.700Z");
    private static final S3ObjectLocation LOCATION = new S3ObjectLocation("bucket", "file");
    private static final int BLOCKS = 20;

    @TempDir
    private Path directory;

    private final ManualTimer timer = new ManualTimer(START);
    // an origin's clock is not this host's
    private Duration originAhead = Duration.ofMinutes(-7);
    private final InMemorySource source = new InMemorySource(() -> timer.now().plus(originAhead));
    private final WorkerCounters counters = new WorkerCounters();
    private final Deque<Runnable> requests = new ArrayDeque<>();
    private boolean threadsAreShort;
    private Duration framePatience = Duration.ZERO;
    private final byte[] bytes = new byte[BLOCKS * BLOCK_SIZE - 77];
    private TestingStore store;
    private final InMemoryPeers peers = new InMemoryPeers();
    private BlockFetcher fetcher;
    private FetchTarget target;

    @BeforeEach
    void setUp()
    {
        new Random(1).nextBytes(bytes);
        open(8 << 20, 4);
        target = target(originNow().minusSeconds(3600));
        source.put(LOCATION, bytes, "\"one\"", originNow().minusSeconds(3600));
    }

    private void open(long ramBytes, int maxRequests)
    {
        if (store != null) {
            store.close();
        }
        store = new TestingStore(directory, BLOCK_SIZE, ramBytes);
        RequestLimits limits = new RequestLimits(maxRequests, timer::nanoTime, counters);
        source.observe(limits.observer("default"));
        fetcher = new BlockFetcher(
                store.store(),
                new FetchLimits(limits, new ByteBudget(1 << 20), 8 * BLOCK_SIZE, 1, 16, framePatience),
                counters,
                timer,
                new Pauses(() -> 0.5),
                new FetchExecutors(this::begin, requests::add),
                peers);
    }

    private void begin(Runnable request)
    {
        if (threadsAreShort) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        requests.add(request);
    }

    @AfterEach
    void tearDown()
    {
        fetcher.stop();
        store.close();
    }

    private Instant originNow()
    {
        return timer.now().plus(originAhead);
    }

    private FetchTarget target(Instant lastModified)
    {
        FileVersion version = new FileVersion(OriginId.of("s3", Optional.empty(), Optional.empty()), "s3://bucket/file", bytes.length, lastModified.toEpochMilli());
        Origin origin = new Origin(
                "default",
                version.origin(),
                Path.of("default.properties"),
                source,
                new OriginHealth("default", Path.of("default.properties"), timer::nanoTime),
                AllowedLocations.ALL);
        return new FetchTarget(origin, LOCATION, version, version.id(), "schema.table", 0);
    }

    /// A version that was written at this very moment.
    private void putProvisional(String etag)
    {
        target = target(originNow());
        source.put(LOCATION, bytes, etag, originNow());
    }

    private void run()
    {
        while (!requests.isEmpty()) {
            requests.removeFirst().run();
        }
    }

    private void runFor(Duration duration)
    {
        for (Duration passed = Duration.ZERO; passed.compareTo(duration) < 0; passed = passed.plusMillis(25)) {
            timer.advance(Duration.ofMillis(25));
            run();
        }
    }

    private static final class RecordingWaiter
            implements BlockWaiter
    {
        private final Map<Integer, String> outcomes = new TreeMap<>();
        private final Map<Integer, byte[]> received = new TreeMap<>();

        private void end(int block, String outcome)
        {
            assertThat(outcomes.put(block, outcome)).as("block %s ends once", block).isNull();
        }

        @Override
        public void stored(int block)
        {
            end(block, "stored");
        }

        @Override
        public void handedOver(int block)
        {
            end(block, "handed over");
        }

        @Override
        public void bytes(int block, SharedBytes bytes)
        {
            byte[] copy = new byte[bytes.payload().remaining()];
            bytes.payload().get(copy);
            received.put(block, copy);
            end(block, "bytes");
        }

        @Override
        public void present(int block)
        {
            end(block, "present");
        }

        @Override
        public void denied(int block)
        {
            end(block, "denied");
        }

        @Override
        public void failed(int block, NoCause cause)
        {
            end(block, cause.name());
        }
    }

    /// Other workers, who have some blocks of the file.
    private final class InMemoryPeers
            implements PeerSource
    {
        private final Set<Integer> blocks = new TreeSet<>();
        private final List<List<Integer>> asked = new ArrayList<>();
        private final List<FileVersionId> changed = new ArrayList<>();

        @Override
        public void take(FetchTarget target, List<Integer> wanted, IntConsumer taken)
        {
            asked.add(wanted);
            wanted.stream().filter(blocks::contains).forEach(index -> {
                assertThat(store.store().bind(target.version(), Optional.of("\"one\""), false, "")).isTrue();
                byte[] content = block(index);
                try (Fill fill = store.store().beginFill(target.id().block(index), content.length, ETags.digest("\"one\"")).orElseThrow()) {
                    fill.buffer().put(content);
                    fill.commit().orElseThrow().close();
                }
                taken.accept(index);
            });
        }

        @Override
        public void versionChanged(FileVersionId id)
        {
            changed.add(id);
        }
    }

    private RecordingWaiter fetch(Integer... blocks)
    {
        RecordingWaiter waiter = new RecordingWaiter();
        fetcher.fetch(target, List.of(blocks), Priority.READ, waiter);
        return waiter;
    }

    private static Map<Integer, String> all(String outcome, Integer... blocks)
    {
        Map<Integer, String> outcomes = new TreeMap<>();
        Arrays.stream(blocks).forEach(block -> outcomes.put(block, outcome));
        return outcomes;
    }

    private byte[] block(int index)
    {
        return Arrays.copyOfRange(bytes, index * BLOCK_SIZE, Math.min(bytes.length, (index + 1) * BLOCK_SIZE));
    }

    private void assertStored(Integer... blocks)
    {
        for (int index : blocks) {
            try (PinnedBlock pinned = store.store().pin(target.id().block(index)).orElseThrow()) {
                byte[] copy = new byte[pinned.length()];
                pinned.payload().get(copy);
                assertThat(copy).isEqualTo(block(index));
            }
        }
    }

    private boolean isStored(int index)
    {
        Optional<PinnedBlock> pinned = store.store().pin(target.id().block(index));
        pinned.ifPresent(PinnedBlock::close);
        return pinned.isPresent();
    }

    @Test
    void testRangesAreJoinedAndBounded()
    {
        Integer[] all = IntStream.range(0, BLOCKS).boxed().toArray(Integer[]::new);
        RecordingWaiter waiter = fetch(all);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("stored", all));
        assertStored(all);
        assertThat(source.gets()).extracting(Get::length).containsExactly(8L * BLOCK_SIZE, 8L * BLOCK_SIZE, 4L * BLOCK_SIZE - 77);
    }

    @Test
    void testOneFetchForAllWhoWait()
    {
        RecordingWaiter first = fetch(3);
        RecordingWaiter second = fetch(3);
        run();
        RecordingWaiter third = fetch(3);
        run();

        assertThat(first.outcomes).isEqualTo(all("stored", 3));
        assertThat(second.outcomes).isEqualTo(all("stored", 3));
        assertThat(third.outcomes).isEqualTo(all("present", 3));
        assertThat(source.gets()).hasSize(1);
    }

    @Test
    void testThreadsAreShort()
    {
        threadsAreShort = true;
        // more often than there may be requests
        for (int i = 0; i < 10; i++) {
            assertThat(fetch(0, 9, 19).outcomes).isEqualTo(all("OVERLOADED", 0, 9, 19));
        }
        threadsAreShort = false;
        RecordingWaiter waiter = fetch(0, 9, 19);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 9, 19));
    }

    @Test
    void testOthersAreAskedBeforeTheOrigin()
    {
        peers.blocks.addAll(List.of(0, 3, 4, 7));
        RecordingWaiter waiter = fetch(0, 1, 2, 3, 4, 5, 7);
        RecordingWaiter second = fetch(3, 5);
        run();

        Map<Integer, String> expected = all("stored", 1, 2, 5);
        expected.putAll(all("handed over", 0, 3, 4, 7));
        assertThat(waiter.outcomes).isEqualTo(expected);
        assertThat(second.outcomes).isEqualTo(Map.of(3, "handed over", 5, "stored"));
        assertStored(0, 1, 2, 3, 4, 5, 7);
        assertThat(peers.asked).as("once for all who wait").containsExactly(List.of(0, 1, 2, 3, 4, 5), List.of(7));
        // what one has to fetch is held to what others had
        assertThat(source.gets()).containsExactly(
                new Get(BLOCK_SIZE, 2L * BLOCK_SIZE, Optional.of("\"one\"")),
                new Get(5L * BLOCK_SIZE, BLOCK_SIZE, Optional.of("\"one\"")));
        assertThat(counters.extraBytes()).isZero();
    }

    @Test
    void testOriginFailsForTheRest()
    {
        peers.blocks.addAll(List.of(1, 3));
        source.failWith(Optional.of(Reason.UNREACHABLE));
        RecordingWaiter waiter = fetch(0, 1, 2, 3, 4);
        run();

        Map<Integer, String> expected = all("ORIGIN_FAILED", 0, 2, 4);
        expected.putAll(all("handed over", 1, 3));
        assertThat(waiter.outcomes).isEqualTo(expected);
    }

    @Test
    void testOthersAreAskedOnce()
    {
        source.refuse(2);
        RecordingWaiter waiter = fetch(0, 1);
        run();
        runFor(Duration.ofSeconds(5));

        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1));
        assertThat(source.gets()).hasSize(3);
        assertThat(peers.asked).as("and not again when the origin refuses").containsExactly(List.of(0, 1));
    }

    @Test
    void testOthersLearnOfAChange()
    {
        fetch(0);
        run();
        source.put(LOCATION, bytes, "\"two\"", originNow().minusSeconds(3600));
        fetch(5);
        run();
        assertThat(peers.changed).containsExactly(target.id());
    }

    @Test
    void testStreamIsTakenUpWhereItBroke()
    {
        source.breakAnswers(1, 2 * BLOCK_SIZE + 1000);
        RecordingWaiter waiter = fetch(0, 1, 2, 3);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1, 2, 3));
        assertStored(0, 1, 2, 3);
        assertThat(source.gets()).containsExactly(
                new Get(0, 4L * BLOCK_SIZE, Optional.empty()),
                new Get(2L * BLOCK_SIZE, 2L * BLOCK_SIZE, Optional.of("\"one\"")));
    }

    @Test
    void testStreamThatBreaksAgainAndAgain()
    {
        source.breakAnswers(100, BLOCK_SIZE / 2);
        RecordingWaiter waiter = fetch(0, 1);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("ORIGIN_FAILED", 0, 1));
        assertThat(source.gets()).hasSize(3);
        assertThat(isStored(0)).isFalse();
        assertThat(target.origin().health().problem()).isPresent();
    }

    @Test
    void testFileReplacedBetweenTwoRequests()
    {
        fetch(0);
        run();
        source.put(LOCATION, bytes, "\"two\"", originNow().minusSeconds(3600));
        RecordingWaiter waiter = fetch(5);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("VERSION_GONE", 5));
        assertThat(isStored(0)).isFalse();
        assertThat(store.store().file(target.id())).isEmpty();
        assertThat(counters.versionChanges()).isEqualTo(1);

        // under the same length and time there is another version now
        RecordingWaiter again = fetch(0);
        run();
        assertThat(again.outcomes).isEqualTo(all("stored", 0));
        assertThat(store.store().file(target.id()).orElseThrow().etag()).contains("\"two\"");
    }

    @Test
    void testServerThatIgnoresIfMatch()
    {
        source.ignoreIfMatch();
        fetch(0);
        run();
        source.put(LOCATION, bytes, "\"two\"", originNow().minusSeconds(3600));
        RecordingWaiter waiter = fetch(5);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("VERSION_GONE", 5));
        assertThat(isStored(0)).isFalse();
        assertThat(isStored(5)).isFalse();
    }

    /// Two first requests at once, and the file is replaced between their answers.
    @Test
    void testFirstRequestsAgreeOnTheETag()
    {
        RecordingWaiter first = fetch(0);
        RecordingWaiter second = fetch(10);
        source.beforeBody(() -> {
            source.beforeBody(() -> {});
            source.put(LOCATION, bytes, "\"two\"", originNow().minusSeconds(3600));
            // the second request runs when the first has bound the version, and is receiving
            requests.removeFirst().run();
        });
        requests.removeFirst().run();

        assertThat(second.outcomes).isEqualTo(all("VERSION_GONE", 10));
        // asked again, and given the state that the origin has now, under its ETag
        assertThat(first.outcomes).isEqualTo(all("stored", 0));
        assertThat(isStored(0)).isTrue();
        assertThat(isStored(10)).isFalse();
    }

    @Test
    void testDroppedWhileOnItsWay()
    {
        RecordingWaiter waiter = fetch(0, 1);
        // a reader has seen two versions, and a revalidation found another
        source.beforeBody(() -> {
            source.beforeBody(() -> {});
            store.store().flushes().drop(target.id()).join();
        });
        run();

        // the frame that was being filled is thrown away, and the block is fetched again: a flush says nothing of the file
        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1));
    }

    /// A reader that was given such blocks would fail if it heard that the file was replaced.
    @Test
    void testBlocksOfClientsAreNoOtherVersion()
    {
        assertThat(store.store().bind(target.version(), Optional.empty(), false, "schema.table")).isTrue();
        RecordingWaiter waiter = fetch(0, 1);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1));
        assertThat(store.store().file(target.id()).orElseThrow().etag()).isPresent();
    }

    @Test
    void testWeakETagIsNoCondition()
    {
        source.put(LOCATION, bytes, "W/\"weak\"", originNow().minusSeconds(3600));
        fetch(0);
        run();
        RecordingWaiter waiter = fetch(5);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 5));

        // a server may weaken its ETags, or change weak ones, without a change of the bytes
        source.put(LOCATION, bytes, "W/\"other\"", originNow().minusSeconds(3600));
        waiter = fetch(7);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 7));
        assertThat(source.gets()).hasSize(3).allSatisfy(get -> assertThat(get.ifMatch()).isEmpty());
        assertThat(store.store().file(target.id()).orElseThrow().etag()).isEmpty();
    }

    @Test
    void testDroppedAgainAndAgain()
    {
        RecordingWaiter waiter = fetch(0, 1);
        int[] gets = {0};
        source.beforeBody(() -> {
            gets[0]++;
            store.store().flushes().drop(target.id()).join();
        });
        run();
        assertThat(waiter.outcomes).isEqualTo(all("ABSENT", 0, 1));
        assertThat(gets[0]).isEqualTo(3);
    }

    @Test
    void testOtherVersions()
    {
        FileVersion version = target.version();
        for (FileVersion other : List.of(
                new FileVersion(version.origin(), version.location(), version.length() - 1, version.lastModifiedMillis()),
                new FileVersion(version.origin(), version.location(), version.length(), version.lastModifiedMillis() + 1000))) {
            RecordingWaiter waiter = new RecordingWaiter();
            fetcher.fetch(new FetchTarget(target.origin(), LOCATION, other, other.id(), "", 0), List.of(0), Priority.READ, waiter);
            run();
            assertThat(waiter.outcomes).isEqualTo(all("VERSION_GONE", 0));
            assertThat(store.store().file(other.id())).isEmpty();
        }
        // a listing tells milliseconds, an answer does not
        FileVersion sameSecond = new FileVersion(version.origin(), version.location(), version.length(), version.lastModifiedMillis() / 1000 * 1000 + 999);
        RecordingWaiter waiter = new RecordingWaiter();
        fetcher.fetch(new FetchTarget(target.origin(), LOCATION, sameSecond, sameSecond.id(), "", 0), List.of(0), Priority.READ, waiter);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 0));
    }

    @Test
    void testImmutableFile()
    {
        FileVersion version = target.version();
        FileVersion immutable = new FileVersion(version.origin(), version.location(), version.length(), FileVersion.IMMUTABLE);
        RecordingWaiter waiter = new RecordingWaiter();
        fetcher.fetch(new FetchTarget(target.origin(), LOCATION, immutable, immutable.id(), "", 0), List.of(0), Priority.READ, waiter);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 0));
        assertThat(store.store().file(immutable.id()).orElseThrow().provisional()).isFalse();

        FileVersion shorter = new FileVersion(version.origin(), version.location(), version.length() - 1, FileVersion.IMMUTABLE);
        waiter = new RecordingWaiter();
        fetcher.fetch(new FetchTarget(target.origin(), LOCATION, shorter, shorter.id(), "", 0), List.of(0), Priority.READ, waiter);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("VERSION_GONE", 0));
    }

    @Test
    void testOriginWithoutETags()
    {
        source.tellNoEtag();
        RecordingWaiter waiter = fetch(0, 5);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 5));
        assertThat(store.store().file(target.id()).orElseThrow().etagDigest()).isEqualTo(ETags.NONE);
    }

    @Test
    void testFailures()
    {
        Map<Reason, String> outcomes = Map.of(
                Reason.GONE, "VERSION_GONE",
                Reason.CHANGED, "VERSION_GONE",
                Reason.DENIED, "denied",
                Reason.ENCRYPTED, "ENCRYPTED",
                Reason.THROTTLED, "ORIGIN_FAILED",
                Reason.UNREACHABLE, "ORIGIN_FAILED",
                Reason.FAILED, "ORIGIN_FAILED");
        for (Reason reason : Reason.values()) {
            source.failWith(Optional.of(reason));
            RecordingWaiter waiter = fetch(0, 1);
            run();
            if (reason == Reason.THROTTLED) {
                runFor(WantedBlock.PATIENCE);
            }
            assertThat(waiter.outcomes).as("%s", reason).isEqualTo(all(outcomes.get(reason), 0, 1));
        }
        source.failWith(Optional.empty());
        RecordingWaiter waiter = fetch(0, 1);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1));
        assertThat(target.origin().health().problem()).isEmpty();
    }

    @Test
    void testRefusedRequestsAreMadeAgain()
    {
        source.refuse(2);
        RecordingWaiter waiter = fetch(0, 1);
        run();
        assertThat(source.gets()).hasSize(1);
        // half of a second, less a quarter of it, then twice as long
        timer.advance(Duration.ofMillis(374));
        run();
        assertThat(source.gets()).hasSize(1);
        RecordingWaiter joined = fetch(1);
        timer.advance(Duration.ofMillis(1));
        run();
        assertThat(source.gets()).hasSize(2);
        timer.advance(Duration.ofMillis(749));
        run();
        assertThat(source.gets()).hasSize(2);
        assertThat(waiter.outcomes).isEmpty();
        timer.advance(Duration.ofMillis(1));
        run();

        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1));
        assertThat(joined.outcomes).isEqualTo(all("stored", 1));
        assertThat(source.gets()).extracting(Get::length).containsOnly(2L * BLOCK_SIZE).hasSize(3);
        assertThat(counters.originRetries()).isEqualTo(2);
        assertThat(target.origin().health().problem()).isEmpty();
        assertThat(timer.scheduledCount()).isZero();
    }

    @Test
    void testRefusedRequestLeavesItsPlaceToOthers()
    {
        open(8 << 20, 1);
        source.refuse(1);
        RecordingWaiter refused = fetch(0);
        RecordingWaiter other = fetch(5);
        run();

        assertThat(other.outcomes).isEqualTo(all("stored", 5));
        assertThat(refused.outcomes).isEmpty();
        // what is wanted beside it by then goes with it
        RecordingWaiter neighbour = new RecordingWaiter();
        runFor(Duration.ofMillis(350));
        fetcher.fetch(target, List.of(9), Priority.READ, neighbour);
        fetcher.fetch(target, List.of(1), Priority.READ, neighbour);
        timer.advance(Duration.ofMillis(25));
        run();
        assertThat(refused.outcomes).isEqualTo(all("stored", 0));
        assertThat(neighbour.outcomes).isEqualTo(all("stored", 1, 9));
        assertThat(source.gets()).extracting(get -> get.position() / BLOCK_SIZE).containsExactly(0L, 5L, 9L, 0L);
    }

    @Test
    void testNobodyWaitsForTheRefusedAnyMore()
    {
        source.refuse(1);
        RecordingWaiter left = fetch(0, 1);
        RecordingWaiter waiting = fetch(1);
        run();
        fetcher.abandon(target.id(), left);
        runFor(Duration.ofSeconds(1));

        assertThat(left.outcomes).isEmpty();
        assertThat(waiting.outcomes).isEqualTo(all("stored", 1));
        assertThat(source.gets()).containsExactly(new Get(0, 2L * BLOCK_SIZE, Optional.empty()), new Get(BLOCK_SIZE, BLOCK_SIZE, Optional.empty()));

        source.refuse(1);
        RecordingWaiter alone = fetch(5);
        run();
        fetcher.abandon(target.id(), alone);
        runFor(Duration.ofSeconds(1));
        assertThat(source.gets()).as("no request for nobody").hasSize(3);
    }

    /**
     * The reader hears of it before it would give up waiting; as many requests as it makes itself in that time.
     */
    @Test
    void testPatienceEnds()
    {
        source.refuse(1000);
        RecordingWaiter waiter = fetch(0);
        run();
        runFor(Duration.ofMillis(5650));

        assertThat(waiter.outcomes).isEqualTo(all("ORIGIN_FAILED", 0));
        // at 0, 0.375, 1.125, 2.625 and 5.625 s
        assertThat(source.gets()).hasSize(5);
        assertThat(timer.scheduledCount()).isZero();
        assertThat(target.origin().health().problem().orElseThrow()).contains("overloaded");
        assertThat(target.origin().health().isPaused("bucket")).as("nothing came through for seconds: readers ask for themselves").isTrue();
    }

    /**
     * Then a retry is as good as the reader's own request, and the reader need not wait for it.
     */
    @Test
    void testBucketThatRefusesEverything()
    {
        source.refuse(8);
        List<RecordingWaiter> waiters = IntStream.range(0, 8).mapToObj(block -> fetch(2 * block)).toList();
        RecordingWaiter preload = new RecordingWaiter();
        fetcher.fetch(target, List.of(1), Priority.PRELOAD, preload);
        run();

        for (int index = 0; index < 8; index++) {
            boolean givenUp = index >= RequestLimits.REFUSES_ALL - 1;
            assertThat(waiters.get(index).outcomes).as("reader %s", index).isEqualTo(givenUp ? all("ORIGIN_FAILED", 2 * index) : Map.of());
        }
        runFor(Duration.ofSeconds(1));
        assertThat(waiters.subList(0, RequestLimits.REFUSES_ALL - 1)).as("the first of them wait, and are served when it is over")
                .allSatisfy(waiter -> assertThat(waiter.outcomes.values()).containsExactly("stored"));
        assertThat(preload.outcomes).isEqualTo(all("stored", 1));

        source.refuse(1);
        RecordingWaiter after = fetch(19);
        run();
        runFor(Duration.ofSeconds(1));
        assertThat(after.outcomes).isEqualTo(all("stored", 19));
    }

    @Test
    void testOneAttempt()
    {
        source.setMaxAttempts(1);
        source.refuse(1);
        RecordingWaiter waiter = fetch(0);
        run();
        assertThat(waiter.outcomes).isEqualTo(all("ORIGIN_FAILED", 0));
        assertThat(source.gets()).hasSize(1);
    }

    @Test
    void testPreloadsHaveMorePatience()
    {
        source.refuse(10);
        RecordingWaiter preload = new RecordingWaiter();
        fetcher.fetch(target, List.of(0, 1), Priority.PRELOAD, preload);
        run();
        runFor(Duration.ofSeconds(5));
        // a reader has less
        RecordingWaiter reader = fetch(0);
        runFor(WantedBlock.PATIENCE);
        assertThat(reader.outcomes).isEqualTo(all("ORIGIN_FAILED", 0));
        runFor(Duration.ofSeconds(40));
        assertThat(preload.outcomes).isEqualTo(Map.of(0, "ORIGIN_FAILED", 1, "stored"));
    }

    @Test
    void testStopDuringAPause()
    {
        source.refuse(1);
        RecordingWaiter waiter = fetch(0);
        run();
        fetcher.stop();
        assertThat(waiter.outcomes).isEqualTo(all("UNAVAILABLE", 0));
        runFor(Duration.ofSeconds(1));
        assertThat(source.gets()).hasSize(1);
    }

    @Test
    void testQueueIsBounded()
    {
        open(32 << 20, 1);
        // of other files, so that nothing is joined: the queue is of 16 ranges of 8 blocks
        List<RecordingWaiter> waiters = new ArrayList<>();
        for (int file = 0; file < 150; file++) {
            FileVersion version = new FileVersion(target.version().origin(), "s3://bucket/small" + file, BLOCK_SIZE, target.version().lastModifiedMillis());
            S3ObjectLocation location = new S3ObjectLocation("bucket", "small" + file);
            source.put(location, block(0), "\"small\"", Instant.ofEpochMilli(version.lastModifiedMillis()));
            RecordingWaiter waiter = new RecordingWaiter();
            fetcher.fetch(new FetchTarget(target.origin(), location, version, version.id(), "", 0), List.of(0), Priority.READ, waiter);
            waiters.add(waiter);
        }
        assertThat(fetcher.buckets()).containsExactly(new BucketState("default", "bucket", 1, 1, 128, 0));
        assertThat(waiters.stream().filter(waiter -> waiter.outcomes.equals(all("OVERLOADED", 0)))).hasSize(150 - 1 - 128);
        assertThat(counters.overloaded(OverloadCause.FETCH_QUEUE)).isEqualTo(150 - 1 - 128);
        // a preload has a queue of its own, which nobody waits for
        RecordingWaiter preload = new RecordingWaiter();
        fetcher.fetch(target, List.of(3, 4), Priority.PRELOAD, preload);
        assertThat(fetcher.buckets()).containsExactly(new BucketState("default", "bucket", 1, 1, 128, 2));
        // joining what is on its way takes no room
        RecordingWaiter late = fetch(3);
        assertThat(late.outcomes).isEmpty();
        run();

        assertThat(waiters.stream().filter(waiter -> waiter.outcomes.equals(all("stored", 0)))).hasSize(129);
        assertThat(late.outcomes).isEqualTo(all("stored", 3));
        assertThat(preload.outcomes).isEqualTo(all("stored", 3, 4));
        assertThat(fetcher.buckets()).containsExactly(new BucketState("default", "bucket", 1, 0, 0, 0));
        RecordingWaiter after = fetch(5);
        run();
        assertThat(after.outcomes).isEqualTo(all("stored", 5));
    }

    @Test
    void testAbandonedBeforeItsRequest()
    {
        open(8 << 20, 1);
        RecordingWaiter running = fetch(0);
        RecordingWaiter abandoned = fetch(5, 6);
        RecordingWaiter other = fetch(6);
        fetcher.abandon(target.id(), abandoned);
        fetcher.abandon(target.id(), running);
        run();

        assertThat(running.outcomes).isEmpty();
        assertThat(abandoned.outcomes).isEmpty();
        assertThat(other.outcomes).isEqualTo(all("stored", 6));
        // what was under way is kept, and counted as fetched for nobody
        assertStored(0);
        assertThat(counters.extraBytes()).isEqualTo(BLOCK_SIZE);
        assertThat(source.gets()).extracting(Get::position).containsExactly(0L, 6L * BLOCK_SIZE);
    }

    @Test
    void testReadsGoBeforePreloads()
    {
        open(8 << 20, 1);
        RecordingWaiter first = fetch(0);
        RecordingWaiter preload = new RecordingWaiter();
        fetcher.fetch(target, List.of(2, 3, 10), Priority.PRELOAD, preload);
        RecordingWaiter second = fetch(15);
        RecordingWaiter third = fetch(3);
        run();

        assertThat(source.gets()).extracting(get -> get.position() / BLOCK_SIZE).containsExactly(0L, 3L, 15L, 2L, 10L);
        assertThat(preload.outcomes).isEqualTo(all("stored", 2, 3, 10));
        for (RecordingWaiter waiter : List.of(first, second, third)) {
            assertThat(waiter.outcomes.values()).containsOnly("stored");
        }
    }

    @Test
    void testWithoutRoomInRam()
    {
        open(3 << 20, 4);
        List<Fill> taken = takeAllFrames();
        RecordingWaiter waiter = fetch(0, 1);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("bytes", 0, 1));
        assertThat(waiter.received.get(1)).isEqualTo(block(1));
        assertThat(isStored(0)).isFalse();
        taken.forEach(Fill::close);
    }

    @Test
    void testWaitsForRoomInRam()
            throws Exception
    {
        framePatience = Duration.ofMinutes(5);
        open(3 << 20, 4);
        List<Fill> taken = takeAllFrames();
        RecordingWaiter waiter = fetch(0, 1);
        Thread running = Thread.ofPlatform().start(this::run);
        while (source.gets().isEmpty() && running.isAlive()) {
            Thread.onSpinWait();
        }
        taken.forEach(Fill::close);
        running.join();

        assertThat(waiter.outcomes).isEqualTo(all("stored", 0, 1));
        assertStored(0, 1);
        assertThat(store.store().gauges().refusedFills()).as("that of the test").isEqualTo(1);
    }

    private List<Fill> takeAllFrames()
    {
        FileVersion other = new FileVersion(target.version().origin(), "s3://bucket/other", 1L << 40, 0);
        assertThat(store.store().bind(other, Optional.empty(), false, "")).isTrue();
        List<Fill> taken = new ArrayList<>();
        while (true) {
            Optional<Fill> fill = store.store().beginFill(other.id().block(taken.size()), BLOCK_SIZE, ETags.NONE);
            if (fill.isEmpty()) {
                return taken;
            }
            taken.add(fill.get());
        }
    }

    @Test
    void testStop()
    {
        open(8 << 20, 1);
        RecordingWaiter running = fetch(0);
        RecordingWaiter waiting = fetch(5);
        fetcher.stop();
        assertThat(waiting.outcomes).isEqualTo(all("UNAVAILABLE", 5));
        assertThat(fetch(9).outcomes).isEqualTo(all("UNAVAILABLE", 9));
        run();
        assertThat(running.outcomes).hasSize(1);
    }

    @Test
    void testProvisionalVersionIsShownWhenConfirmed()
    {
        putProvisional("\"one\"");
        RecordingWaiter joined = fetch(0, 1);
        RecordingWaiter alsoJoined = fetch(1);
        run();
        assertThat(joined.outcomes).isEqualTo(all("bytes", 0, 1));
        assertThat(alsoJoined.outcomes).isEqualTo(all("bytes", 1));
        assertThat(joined.received.get(0)).isEqualTo(block(0));
        assertThat(isStored(0)).isFalse();
        assertThat(fetcher.heldBlocks()).isEqualTo(2);

        // whoever comes later asks anew, under the same ETag
        RecordingWaiter later = fetch(0);
        run();
        assertThat(later.outcomes).isEqualTo(all("bytes", 0));
        assertThat(source.gets().getLast().ifMatch()).contains("\"one\"");

        CompletableFuture<Boolean> confirmation = fetcher.confirmation(target.id()).orElseThrow();
        // two seconds after the second of its last-modified time, by the origin's clock: 12:00:02.0
        timer.advance(Duration.ofMillis(1299));
        run();
        assertThat(source.heads()).isZero();
        assertThat(confirmation).isNotDone();

        timer.advance(Duration.ofMillis(2000));
        run();
        assertThat(source.heads()).isEqualTo(1);
        assertThat(confirmation).isCompletedWithValue(true);
        assertStored(0, 1);
        assertThat(store.store().file(target.id()).orElseThrow().provisional()).isFalse();
        assertThat(fetcher.heldBlocks()).isZero();
        assertThat(fetch(0).outcomes).isEqualTo(all("present", 0));
        assertThat(fetcher.confirmation(target.id())).isEmpty();
    }

    @Test
    void testProvisionalVersionIsDroppedWhenReplaced()
    {
        putProvisional("\"one\"");
        fetch(0, 1);
        run();
        CompletableFuture<Boolean> confirmation = fetcher.confirmation(target.id()).orElseThrow();
        // within the same second, with the same length
        byte[] before = bytes.clone();
        new Random(2).nextBytes(bytes);
        source.put(LOCATION, bytes, "\"two\"", originNow());
        timer.advance(Duration.ofSeconds(4));
        run();

        assertThat(confirmation).isCompletedWithValue(false);
        assertThat(source.heads()).isEqualTo(1);
        assertThat(isStored(0)).isFalse();
        assertThat(fetcher.heldBlocks()).isZero();
        assertThat(counters.versionChanges()).isEqualTo(1);

        RecordingWaiter later = fetch(0);
        run();
        assertThat(later.outcomes).isEqualTo(all("stored", 0));
        assertStored(0);
        assertThat(block(0)).isNotEqualTo(Arrays.copyOf(before, BLOCK_SIZE));
    }

    @Test
    void testReplacedWhileProvisionalAndReadAgain()
    {
        putProvisional("\"one\"");
        fetch(0);
        run();
        new Random(2).nextBytes(bytes);
        source.put(LOCATION, bytes, "\"two\"", originNow());

        RecordingWaiter second = fetch(0);
        run();
        assertThat(second.outcomes).isEqualTo(all("VERSION_GONE", 0));
        RecordingWaiter third = fetch(0);
        run();
        assertThat(third.outcomes).isEqualTo(all("bytes", 0));
        assertThat(third.received.get(0)).isEqualTo(block(0));
        timer.advance(Duration.ofSeconds(4));
        run();
        assertStored(0);
    }

    @Test
    void testLaterGetConfirms()
    {
        putProvisional("\"one\"");
        fetch(0);
        run();
        // the timer's thread is late, a reader is not
        timer.advance(Duration.ofSeconds(4));
        requests.clear();
        RecordingWaiter waiter = fetch(5);
        run();

        assertThat(waiter.outcomes).isEqualTo(all("stored", 5));
        assertStored(0, 5);
        assertThat(source.heads()).isZero();
    }

    @Test
    void testClockOfTheOriginIsSlow()
    {
        putProvisional("\"one\"");
        fetch(0);
        run();
        // it stands still for three seconds
        originAhead = originAhead.minusSeconds(3);
        timer.advance(Duration.ofSeconds(3));
        run();
        assertThat(source.heads()).isEqualTo(1);
        assertThat(isStored(0)).isFalse();

        for (int i = 0; i < 3; i++) {
            timer.advance(Duration.ofSeconds(1));
            run();
        }
        assertStored(0);
    }

    @Test
    void testConfirmationThatCannotBeHad()
    {
        putProvisional("\"one\"");
        fetch(0);
        run();
        CompletableFuture<Boolean> confirmation = fetcher.confirmation(target.id()).orElseThrow();
        source.failWith(Optional.of(Reason.THROTTLED));
        for (int i = 0; i < 20; i++) {
            timer.advance(Duration.ofSeconds(2));
            run();
        }

        assertThat(confirmation).isCompletedWithValue(false);
        assertThat(source.heads()).isEqualTo(5);
        assertThat(fetcher.heldBlocks()).isZero();
        assertThat(counters.versionChanges()).as("nothing is known to have changed").isZero();
        assertThat(timer.scheduledCount()).isZero();
    }

    @Test
    void testFramesHeldAreBounded()
    {
        putProvisional("\"one\"");
        Collection<Integer> all = IntStream.range(0, BLOCKS).boxed().toList();
        for (int block : all) {
            RecordingWaiter waiter = fetch(block);
            run();
            assertThat(waiter.outcomes).isEqualTo(all("bytes", block));
        }
        assertThat(fetcher.heldBlocks()).isEqualTo(16);
        timer.advance(Duration.ofSeconds(4));
        run();
        assertThat(all.stream().filter(this::isStored)).hasSize(16);
    }

    @Test
    void testRevalidate()
            throws Exception
    {
        fetch(0);
        run();
        fetcher.revalidate(target).join();
        assertStored(0);

        source.failWith(Optional.of(Reason.UNREACHABLE));
        assertThatThrownBy(() -> fetcher.revalidate(target)).isInstanceOf(ObjectSourceException.class);
        assertStored(0);

        source.failWith(Optional.empty());
        source.put(LOCATION, bytes, "\"two\"", originNow().minusSeconds(3600));
        fetcher.revalidate(target).join();
        assertThat(isStored(0)).isFalse();
        assertThat(counters.versionChanges()).isEqualTo(1);
    }
}
