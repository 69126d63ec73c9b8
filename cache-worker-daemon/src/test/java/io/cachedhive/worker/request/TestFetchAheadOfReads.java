package io.cachedhive.worker.request;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.wire.ControlMessage;
import io.cachedhive.protocol.wire.ControlMessage.Ack;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.Message;
import io.cachedhive.protocol.wire.PreloadMessage.FetchAhead;
import io.cachedhive.protocol.wire.ReadMessage.BlockBytes;
import io.cachedhive.protocol.wire.ReadMessage.Fetching;
import io.cachedhive.protocol.wire.ReadMessage.Range;
import io.cachedhive.protocol.wire.ReadMessage.Read;
import io.cachedhive.protocol.wire.Source;
import io.cachedhive.protocol.wire.StatusMessage;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WireClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Files that a coordinator announces, over real sockets, and an S3 server that counts what it is asked.
 */
@Timeout(120)
@Tag("slow")
class TestFetchAheadOfReads
{
    private static final Digest128 SCAN = new Digest128(1, 2);
    private static final int FILE_BYTES = 20_000;

    @TempDir
    private Path directory;

    private Lake lake;
    private TestingWorker worker;

    @BeforeEach
    void start()
    {
        lake = Lake.start(directory.resolve("s3"));
        worker = new TestingWorker(directory).withOrigin("default", lake.s3().clientProperties());
    }

    @AfterEach
    void stop()
    {
        worker.close();
        lake.close();
    }

    private List<StoredFile> put(int count)
    {
        return IntStream.range(0, count).mapToObj(number -> lake.putSettled("table/file" + number, FILE_BYTES, number)).toList();
    }

    private static FetchAhead announcement(List<StoredFile> files)
    {
        return new FetchAhead(0, SCAN, "schema.table", files.stream().map(StoredFile::file).toList());
    }

    private static Read read(FileVersion file)
    {
        return new Read(0, file, Range.ofBlocks(0, 1), true, true, false, new RingEpoch(1), "schema.table");
    }

    private static BlockBytes answer(WireClient peer, long request)
    {
        Message answer = peer.await(request);
        while (answer instanceof Fetching) {
            answer = peer.await(request);
        }
        assertThat(answer).isInstanceOf(BlockBytes.class);
        return (BlockBytes) answer;
    }

    @Test
    void testFetchedOnceAndCountedAsRemoteRead()
            throws Exception
    {
        worker.start();
        List<StoredFile> files = put(30);
        long mark = lake.s3().log().mark();
        // the coordinator is on another host
        try (WireClient coordinator = worker.connectTcp(); WireClient reader = worker.connect()) {
            assertThat(coordinator.ask(announcement(files))).isEqualTo(new Ack());
            assertThat(lake.getsSince(mark)).hasSize(30);
            for (Source expected : List.of(Source.REMOTE, Source.RAM)) {
                for (StoredFile file : files) {
                    BlockBytes block = answer(reader, reader.send(read(file.file())));
                    assertThat(block.source()).isEqualTo(expected);
                    assertThat(WireClient.bytes(block)).isEqualTo(file.bytes());
                }
            }
        }
        assertThat(lake.getsSince(mark)).hasSize(30);
        assertThat(lake.headsSince(mark)).isZero();
        assertThat(worker.gauge(CounterNames.EXTRA_BYTES)).isZero();
        assertFirstReadsArePredictedMisses();
    }

    private void assertFirstReadsArePredictedMisses()
    {
        assertThat(worker.gauge(CounterNames.SIZING_REQUESTED_BYTES)).isEqualTo(60L * FILE_BYTES);
        assertThat(worker.gauge(CounterNames.SIZING_DISTINCT_BYTES)).isEqualTo(30L * FILE_BYTES);
        assertThat(worker.gauge(CounterNames.sizingHitBytes(100))).isEqualTo(30L * FILE_BYTES);
    }

    /// Reads from shared memory, of which the worker hears later.
    @Test
    void testClientCountsRemoteReads()
            throws Exception
    {
        worker.start();
        List<StoredFile> files = put(30);
        long mark = lake.s3().log().mark();
        try (WireClient coordinator = worker.connect()) {
            assertThat(coordinator.ask(announcement(files))).isEqualTo(new Ack());
        }
        CacheClientConfig config = new CacheClientConfig(
                worker.socketPath(),
                new ClientIdentity("cluster", "lake", "node", worker.origins(), TestingWorker.SECRETS),
                8 << 20);
        long requestedBytes = 0;
        for (ReadSource expected : List.of(ReadSource.REMOTE_READ, ReadSource.RAM_HIT)) {
            // tells the worker of what it has read when it is closed
            try (CacheClient client = CacheClient.start(config)) {
                Await.until("the worker is there", () -> client.local().connected());
                for (StoredFile file : files) {
                    byte[] bytes = new byte[FILE_BYTES];
                    client.open(0, file.file(), new ReadScope("schema.table", Optional.empty(), true, new ReadObserver()), lake.input(file)).readFully(0, bytes, 0, FILE_BYTES);
                    assertThat(bytes).isEqualTo(file.bytes());
                }
                Map<String, Long> totals = client.counters().totals();
                assertThat(totals.get(expected.bytesCounter())).isEqualTo(30L * FILE_BYTES);
            }
            requestedBytes += 30L * FILE_BYTES;
            long heardBytes = requestedBytes;
            // hits of two clients that come within a tenth of a second may be recorded in any order
            Await.until("the worker has recorded the reads", () -> worker.gauge(CounterNames.SIZING_REQUESTED_BYTES) == heardBytes);
        }
        assertThat(lake.getsSince(mark)).hasSize(30);
        assertFirstReadsArePredictedMisses();
    }

    @Test
    void testReadersRaceWithIt()
            throws Exception
    {
        worker.start();
        List<StoredFile> files = put(200);
        long mark = lake.s3().log().mark();
        AtomicInteger next = new AtomicInteger();
        try (ExecutorService readers = Executors.newFixedThreadPool(8); WireClient coordinator = worker.connectTcp()) {
            long announced = coordinator.send(announcement(files));
            List<Future<?>> reads = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                reads.add(readers.submit(() -> {
                    try (WireClient peer = worker.connect()) {
                        for (int number = next.getAndIncrement(); number < files.size(); number = next.getAndIncrement()) {
                            BlockBytes block = answer(peer, peer.send(read(files.get(number).file())));
                            assertThat(block.source()).as("file %s", number).isEqualTo(Source.REMOTE);
                            assertThat(WireClient.bytes(block)).isEqualTo(files.get(number).bytes());
                        }
                    }
                }));
            }
            for (Future<?> read : reads) {
                read.get();
            }
            assertThat(coordinator.await(announced)).isEqualTo(new Ack());
        }
        assertThat(lake.getsSince(mark)).extracting(S3Request::key).doesNotHaveDuplicates().hasSize(200);
        assertThat(worker.gauge(CounterNames.EXTRA_BYTES)).isZero();
    }

    @Test
    void testNothingMoreWhenTheCoordinatorIsGone()
            throws Exception
    {
        worker.withMaxRequestsPerBucket(8).start();
        List<StoredFile> files = put(40);
        long mark = lake.s3().log().mark();
        try (S3Hold hold = lake.s3().hold(S3Hold.Rule.gets(Lake.BUCKET, "table/"))) {
            try (WireClient coordinator = worker.connectTcp()) {
                coordinator.send(announcement(files));
                hold.awaitHeld(4, Await.DEADLINE);
            }
            Await.until("the connection is closed", () -> worker.gauge(CounterNames.ACTIVE_REQUESTS) == 0);
            hold.release();
        }
        Await.until("what was under way is there", () -> worker.gauge(CounterNames.RAM_BLOCKS) == 4);
        try (WireClient reader = worker.connect()) {
            // whoever reads the rest fetches it
            assertThat(answer(reader, reader.send(read(files.get(39).file()))).source()).isEqualTo(Source.REMOTE);
        }
        assertThat(lake.getsSince(mark)).hasSize(5);
    }

    @Test
    void testCancel()
            throws Exception
    {
        worker.withMaxRequestsPerBucket(8).start();
        List<StoredFile> files = put(40);
        long mark = lake.s3().log().mark();
        try (WireClient coordinator = worker.connectTcp(); S3Hold hold = lake.s3().hold(S3Hold.Rule.gets(Lake.BUCKET, "table/"))) {
            long announced = coordinator.send(announcement(files));
            hold.awaitHeld(4, Await.DEADLINE);
            coordinator.send(new ControlMessage.Cancel(announced));
            coordinator.ask(new StatusMessage.Ping());
            hold.release();
            Await.until("what was under way is there", () -> worker.gauge(CounterNames.RAM_BLOCKS) == 4);
            assertThat(coordinator.hasAnswer(announced)).isFalse();
        }
        assertThat(lake.getsSince(mark)).hasSize(4);
    }

    @Test
    void testNotWhileTheOriginRefuses()
            throws Exception
    {
        worker.start();
        List<StoredFile> files = put(40);
        long mark = lake.s3().log().mark();
        lake.s3().setFaults(S3Faults.NONE.withUnavailableShare(1, 42));
        try (WireClient coordinator = worker.connectTcp()) {
            coordinator.send(announcement(files));
            Await.until("the first are refused", () -> worker.gauge(CounterNames.ORIGIN_THROTTLED) > 0);
            Await.until(
                    "no request is under way",
                    () -> worker.gauge(CounterNames.ORIGIN_GETS) == worker.gauge(CounterNames.ORIGIN_THROTTLED) && worker.gauge(CounterNames.FETCH_REQUESTS) == 0);
        }
        // those that were under way at the first refusal, none of them a second time
        assertThat(lake.getsSince(mark)).hasSizeLessThanOrEqualTo(8).extracting(S3Request::key).doesNotHaveDuplicates();
        lake.s3().setFaults(S3Faults.NONE);
        try (WireClient reader = worker.connect()) {
            assertThat(answer(reader, reader.send(read(files.get(0).file()))).source()).isEqualTo(Source.REMOTE);
        }
    }

    @Test
    void testContradictionIsRefused()
            throws Exception
    {
        worker.start();
        List<StoredFile> files = put(1);
        try (WireClient coordinator = worker.connectTcp()) {
            assertThat(coordinator.ask(new FetchAhead(1, SCAN, "schema.table", List.of(files.getFirst().file())))).isInstanceOf(ControlMessage.Error.class);
            assertThat(coordinator.ask(new FetchAhead(0, SCAN, "schema.table", List.of()))).isEqualTo(new Ack());
        }
    }
}
