package io.cachedhive.worker.fetch;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.wire.NoCause;
import io.cachedhive.store.BlockOrigin;
import io.cachedhive.store.PinnedBlock;
import io.cachedhive.worker.fetch.BlockFetcher.Priority;
import io.cachedhive.worker.origin.AllowedLocations;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.origin.OriginHealth;
import io.cachedhive.worker.origin.S3ObjectLocation;
import io.cachedhive.worker.testing.InMemorySource;
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
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Files that are fetched before anybody asks, from an origin on the heap, with requests that run when the test says so.
 */
class TestFetchAhead
{
    private static final int BLOCK_SIZE = 1 << 20;
    private static final int MAX_REQUESTS = 16;
    private static final int MAX_AHEAD = 8;
    private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
    private static final Instant WRITTEN = START.minusSeconds(3600);
    private static final Digest128 SCAN = new Digest128(1, 1);

    @TempDir
    private Path directory;

    private final ManualTimer timer = new ManualTimer(START);
    private final InMemorySource source = new InMemorySource(timer::now);
    private final WorkerCounters counters = new WorkerCounters();
    private final OriginHealth health = new OriginHealth("default", Path.of("default.properties"), timer::nanoTime);
    private final Deque<Runnable> requests = new ArrayDeque<>();
    private final AtomicInteger ended = new AtomicInteger();
    private TestingStore store;
    private BlockFetcher fetcher;
    private FetchAhead fetchAhead;

    @BeforeEach
    void setUp()
    {
        open(1L << 30);
    }

    private void open(long ramBytes)
    {
        store = new TestingStore(directory, BLOCK_SIZE, 64 << 20);
        RequestLimits limits = new RequestLimits(MAX_REQUESTS, timer::nanoTime, counters);
        source.observe(limits.observer("default"));
        fetcher = new BlockFetcher(
                store.store(),
                new FetchLimits(limits, new ByteBudget(4 << 20), BLOCK_SIZE, 1, 16, Duration.ZERO),
                counters,
                timer,
                new Pauses(() -> 0.5),
                new FetchExecutors(requests::add, requests::add),
                PeerSource.NONE);
        fetchAhead = new FetchAhead(store.store(), fetcher, counters, timer, Runnable::run, MAX_AHEAD, ramBytes);
    }

    @AfterEach
    void tearDown()
    {
        fetchAhead.stop();
        fetcher.stop();
        store.close();
    }

    private FetchTarget file(int number, int length, Instant lastModified)
    {
        S3ObjectLocation location = new S3ObjectLocation("bucket", "file" + number);
        byte[] bytes = new byte[length];
        bytes[0] = (byte) number;
        source.put(location, bytes, "\"" + number + "\"", lastModified);
        FileVersion version = new FileVersion(OriginId.of("s3", Optional.empty(), Optional.empty()), "s3://bucket/file" + number, length, lastModified.toEpochMilli());
        Origin origin = new Origin("default", version.origin(), Path.of("default.properties"), source, health, AllowedLocations.ALL);
        return new FetchTarget(origin, location, version, version.id(), "schema.table", 0);
    }

    private List<FetchTarget> files(int first, int count, int length)
    {
        return IntStream.range(first, first + count).mapToObj(number -> file(number, length, WRITTEN)).toList();
    }

    private FetchAhead.Announcement announce(List<FetchTarget> files)
    {
        return fetchAhead.announce(SCAN, files, ended::incrementAndGet);
    }

    private void run()
    {
        while (!requests.isEmpty()) {
            requests.removeFirst().run();
        }
    }

    private static Digest128 block(FetchTarget file)
    {
        return file.id().block(0).digest();
    }

    private boolean isInRam(FetchTarget file)
    {
        Optional<PinnedBlock> pinned = store.store().pin(file.id().block(0));
        pinned.ifPresent(block -> {
            assertThat(block.tier()).isEqualTo(BlockOrigin.RAM);
            block.close();
        });
        return pinned.isPresent();
    }

    private static final class Reader
            implements BlockWaiter
    {
        private final List<String> outcomes = new ArrayList<>();

        @Override
        public void stored(int block)
        {
            outcomes.add("stored");
        }

        @Override
        public void bytes(int block, SharedBytes bytes)
        {
            outcomes.add("bytes");
        }

        @Override
        public void present(int block)
        {
            outcomes.add("present");
        }

        @Override
        public void denied(int block)
        {
            outcomes.add("denied");
        }

        @Override
        public void failed(int block, NoCause cause)
        {
            outcomes.add(cause.name());
        }
    }

    private Reader read(FetchTarget file)
    {
        Reader reader = new Reader();
        fetcher.fetch(file, List.of(0), Priority.READ, reader);
        return reader;
    }

    @Test
    void testFetchesOnceAndEnds()
    {
        List<FetchTarget> files = files(0, 20, 1000);
        announce(files);
        assertThat(requests).as("a bounded number at once").hasSize(MAX_AHEAD);
        run();
        assertThat(source.gets()).hasSize(20);
        assertThat(files).allMatch(this::isInRam);
        assertThat(ended).hasValue(1);
        assertThat(fetchAhead.unaskedBytes()).isEqualTo(20_000);
        assertThat(counters.extraBytes()).isZero();

        // the first who asks is told, the others are not
        assertThat(fetchAhead.clearPrefetched(block(files.get(3)))).isTrue();
        assertThat(fetchAhead.clearPrefetched(block(files.get(3)))).isFalse();
        assertThat(fetchAhead.unaskedBytes()).isEqualTo(19_000);

        // announced once more: all is there
        announce(files);
        run();
        assertThat(source.gets()).hasSize(20);
        assertThat(ended).hasValue(2);
    }

    @Test
    void testReaderJoins()
    {
        FetchTarget file = file(1, 1000, WRITTEN);
        announce(List.of(file));
        assertThat(fetchAhead.clearPrefetched(block(file))).isTrue();
        Reader reader = read(file);
        run();
        assertThat(reader.outcomes).containsExactly("stored");
        assertThat(source.gets()).hasSize(1);
        assertThat(fetchAhead.unaskedBytes()).isZero();
        assertThat(counters.extraBytes()).isZero();
    }

    @Test
    void testWhatIsReadAlreadyIsLeftToTheReader()
    {
        FetchTarget file = file(1, 1000, WRITTEN);
        Reader reader = read(file);
        announce(List.of(file));
        assertThat(ended).hasValue(1);
        run();
        assertThat(reader.outcomes).containsExactly("stored");
        assertThat(source.gets()).hasSize(1);
    }

    @Test
    void testWindowGrowsWithWhatIsRead()
    {
        int length = 512 << 10;
        List<FetchTarget> files = files(0, 40, length);
        announce(files);
        run();
        int first = (int) (FetchAhead.FIRST_WINDOW_BYTES / length);
        assertThat(source.gets()).hasSize(first);
        assertThat(fetchAhead.waitingFiles()).isEqualTo(40 - first);

        // a file that is read makes room for itself and two more
        fetchAhead.clearPrefetched(block(files.get(0)));
        run();
        assertThat(source.gets()).hasSize(first + 3);
        assertThat(ended).hasValue(0);
    }

    @Test
    void testWindowIsBoundedInFilesToo()
    {
        List<FetchTarget> files = files(0, 100, 1000);
        announce(files);
        run();
        assertThat(source.gets()).hasSize(FetchAhead.FIRST_WINDOW_FILES);

        fetchAhead.clearPrefetched(block(files.get(0)));
        run();
        assertThat(source.gets()).hasSize(FetchAhead.FIRST_WINDOW_FILES + 3);
    }

    /**
     * Two scans of the same files, of which the second one finds that all are on their way: nothing of either is kept when they are read.
     */
    @Test
    void testScansOfTheSameFilesAreForgotten()
    {
        List<FetchTarget> files = files(0, 5, 1000);
        announce(files);
        fetchAhead.announce(new Digest128(2, 2), files, ended::incrementAndGet);
        run();
        fetchAhead.announce(new Digest128(3, 3), files, ended::incrementAndGet);
        run();
        assertThat(source.gets()).hasSize(5);
        assertThat(ended).hasValue(3);
        files.forEach(file -> assertThat(fetchAhead.clearPrefetched(block(file))).isTrue());
        assertThat(fetchAhead.scans()).isZero();
    }

    @Test
    void testWindowsTogetherAreAShareOfRam()
    {
        tearDown();
        open(32 << 20);
        List<FetchTarget> files = files(0, 40, 512 << 10);
        announce(files.subList(0, 20));
        fetchAhead.announce(new Digest128(2, 2), files.subList(20, 40), ended::incrementAndGet);
        run();
        assertThat(fetchAhead.unaskedBytes()).isEqualTo(2 << 20);
        assertThat(source.gets()).hasSize(4);
    }

    @Test
    void testCancelledScanWastesItsWindow()
    {
        FetchAhead.Announcement announcement = announce(files(0, 40, 512 << 10));
        announcement.cancel();
        assertThat(fetchAhead.waitingFiles()).isZero();
        run();
        assertThat(source.gets()).hasSize(MAX_AHEAD);
        assertThat(ended).hasValue(0);
        // nobody ever asks
        timer.advance(FetchAhead.LIFETIME.multipliedBy(2));
        assertThat(fetchAhead.unaskedBytes()).isZero();
        assertThat(counters.extraBytes()).isEqualTo((long) MAX_AHEAD * (512 << 10));
    }

    @Test
    void testReadsDoNotWaitForIt()
    {
        announce(files(0, 20, 1000));
        assertThat(requests).hasSize(MAX_AHEAD);
        // as many reads as the bucket bears, although others are under way
        files(100, MAX_REQUESTS + 1, 1000).forEach(this::read);
        assertThat(requests).hasSize(MAX_AHEAD + MAX_REQUESTS);
        // and while they are, nothing more is fetched ahead
        for (int i = 0; i < MAX_AHEAD; i++) {
            requests.removeFirst().run();
        }
        timer.advance(Duration.ofSeconds(1));
        assertThat(source.gets()).hasSize(MAX_AHEAD);
        assertThat(requests).hasSize(MAX_REQUESTS);
        run();
        timer.advance(Duration.ofSeconds(1));
        run();
        assertThat(source.gets()).hasSize(20 + MAX_REQUESTS + 1);
    }

    @Test
    void testNothingAfterARefusal()
    {
        List<FetchTarget> files = files(0, 20, 1000);
        source.refuse(1);
        announce(files);
        run();
        // those that were under way, one of them refused and not asked for again
        assertThat(source.gets()).hasSize(MAX_AHEAD);
        assertThat(counters.originThrottled()).isEqualTo(1);
        assertThat(health.isPaused("bucket")).as("readers may ask").isFalse();
        timer.advance(Duration.ofSeconds(30));
        run();
        assertThat(source.gets()).hasSize(MAX_AHEAD);
        // who reads it asks, as ever
        assertThat(fetchAhead.clearPrefetched(block(files.get(0)))).isFalse();
        Reader reader = read(files.get(0));
        run();
        assertThat(reader.outcomes).containsExactly("stored");
    }

    @Test
    void testReaderOfARefusedFileIsServed()
    {
        FetchTarget file = file(1, 1000, WRITTEN);
        source.refuse(1);
        announce(List.of(file));
        fetchAhead.clearPrefetched(block(file));
        Reader reader = read(file);
        run();
        timer.advance(Duration.ofSeconds(5));
        run();
        assertThat(reader.outcomes).containsExactly("stored");
        assertThat(source.gets()).hasSize(2);
    }

    @Test
    void testFailuresAreForgotten()
    {
        source.failWith(Optional.of(Reason.FAILED));
        announce(files(0, 3, 1000));
        run();
        assertThat(fetchAhead.unaskedBytes()).isZero();
        assertThat(fetchAhead.waitingFiles()).isZero();
        assertThat(ended).hasValue(1);
    }

    @Test
    void testWhatIsPassedOver()
    {
        announce(List.of(
                file(1, BLOCK_SIZE + 1, WRITTEN),
                // could be overwritten unseen, and would be shown to nobody
                file(2, 1000, START.minusSeconds(1))));
        assertThat(ended).hasValue(1);
        assertThat(requests).isEmpty();
    }

    @Test
    void testQueueIsBounded()
    {
        FetchTarget file = file(1, 1000, WRITTEN);
        announce(IntStream.range(0, FetchAhead.MAX_WAITING_FILES + 10).mapToObj(_ -> file).toList());
        assertThat(fetchAhead.waitingFiles()).isLessThanOrEqualTo(FetchAhead.MAX_WAITING_FILES);
        run();
        assertThat(source.gets()).hasSize(1);
        assertThat(fetchAhead.waitingFiles()).isZero();
        assertThat(ended).hasValue(1);
    }
}
