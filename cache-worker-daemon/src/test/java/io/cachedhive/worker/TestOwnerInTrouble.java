package io.cachedhive.worker;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.client.connection.ClientIdentity;
import io.cachedhive.client.connection.Timeouts;
import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.Relay;
import io.cachedhive.worker.testing.Shell;
import io.cachedhive.worker.testing.TestingWorker;
import io.cachedhive.worker.testing.WorkerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers on one host whose chunks' owner, a cache worker in a process of its own, gets into trouble: how long their reads take then, with the time-outs as they are.
 */
@Tag("conformance")
@Timeout(600)
@Tag("slow")
class TestOwnerInTrouble
{
    private static final int CHUNK_BLOCKS = 4;
    private static final int BLOCKS = 64 * CHUNK_BLOCKS;
    private static final int READERS = 4;
    private static final int HEALTHY_READS = 2000;
    private static final int ATTEMPTS = 6;
    private static final int READS_THAT_GO_ON = 100;
    private static final Duration SILENCE = Duration.ofMillis(Timeouts.DEFAULT.silenceMillis());
    // more probes than are sent on one connection, and new connections after that
    private static final Duration TROUBLE = Duration.ofSeconds(10);
    // three readers have waited by then, one after the other if need be, and the breaker is open
    private static final Duration OPEN_AFTER = SILENCE.multipliedBy(3).plusMillis(500);
    // what a busy machine may add to a read
    private static final Duration SLACK = Duration.ofMillis(900);

    private Path ramDirectory;
    private Lake lake;
    private StoredFile file;
    private TestingWorker local;
    private Process owner;
    private Relay relay;
    private CacheClient client;
    private PublishedRing ring;
    private List<Integer> owned;

    enum Trouble
    {
        ACCEPTS_AND_NEVER_ANSWERS,
        ANSWERS_GARBAGE,
        RESETS,
        STOPPED,
    }

    /**
     * @param begun after the trouble
     * @param own without the time of the origin
     */
    private record TimedRead(Duration begun, Duration own) {}

    @BeforeEach
    void setUp(@TempDir Path directory)
            throws Exception
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        lake = Lake.start(directory.resolve("s3"));
        file = lake.putSettled("table/file", BLOCKS * BLOCK_SIZE, 1);
        // what was a guest here would not be asked of the owner again
        local = new TestingWorker(directory.resolve("local")).withOrigin("default", lake.s3().clientProperties()).withGuestMaxShare(0).start();
        Path origins = Files.createDirectories(directory.resolve("origins"));
        WorkerProcess.write(origins.resolve("default.properties"), lake.s3().clientProperties());
        int port = WorkerProcess.freePort();
        Path config = directory.resolve("owner.properties");
        WorkerProcess.write(config, Map.of(
                "node.environment", "test",
                "http-server.http.port", Integer.toString(WorkerProcess.freePort()),
                "cache.worker.port", Integer.toString(port),
                "cache.worker.socket-path", directory.resolve("owner.sock").toString(),
                "cache.ram.directory", ramDirectory.toString(),
                "cache.ram.max-size", "32MB",
                "cache.block-size", BLOCK_SIZE + "B",
                "cache.state-directory", directory.resolve("state").toString(),
                "cache.origins-directory", origins.toString()));
        owner = WorkerProcess.start(config, directory.resolve("owner.log"));
        relay = Relay.start(new WorkerAddress("127.0.0.1", port));
    }

    @AfterEach
    void tearDown()
            throws Exception
    {
        if (client != null) {
            client.close();
        }
        if (relay != null) {
            relay.close();
        }
        if (owner != null) {
            owner.destroyForcibly().waitFor();
        }
        local.close();
        lake.close();
        try (var left = Files.list(ramDirectory)) {
            for (Path path : left.toList()) {
                Files.delete(path);
            }
        }
        Files.delete(ramDirectory);
    }

    /**
     * @param address of the owner, or of who stands before it
     */
    private void connect(WorkerAddress address)
            throws Exception
    {
        ClientIdentity identity = new ClientIdentity("cluster", "lake", "node", local.origins(), Optional.empty());
        CacheWorkerId ownerId;
        try (WorkerAdmin admin = WorkerAdmin.start(identity, new Timeouts(30_000, 30_000, 100, 1000))) {
            ownerId = admin.ping(address).get().worker();
        }
        CacheWorkerId localId = local.service().store().workerId();
        ring = new PublishedRing(
                HashRing.of(List.of(new RingMember(localId, 1, Optional.empty()), new RingMember(ownerId, 1, Optional.empty()))),
                Map.of(ownerId, address),
                System.currentTimeMillis());
        local.service().rings().publish(ring);
        long hash = ChunkKey.locationHash(file.file().origin(), file.file().location());
        owned = new ArrayList<>();
        for (int block = 0; block < BLOCKS; block++) {
            if (ring.ring().owner(new ChunkKey(hash, block / CHUNK_BLOCKS)).orElseThrow().equals(ownerId)) {
                owned.add(block);
            }
        }
        client = CacheClient.start(new CacheClientConfig(local.socketPath(), identity, (long) CHUNK_BLOCKS * BLOCK_SIZE));
        Await.until("the client knows the ring", () -> client.local().connected() && client.newestRing().isPresent());
    }

    @ParameterizedTest
    @EnumSource
    void testReadsGoOn(Trouble trouble)
            throws Exception
    {
        connect(trouble == Trouble.STOPPED ? relay.worker() : relay.address());
        ReadObserver filling = new ReadObserver();
        for (int block : owned) {
            read(block, true, filling);
            while (nonLocalBytes(block) == 0) {
                // on a busy machine a read may have gone past the owner, which then has nothing
                read(block, true, filling);
            }
        }
        assertThat(filling.bytes(ReadSource.REMOTE_READ)).as("fetched by the owner: %s", filling.bypassBytes()).isPositive();
        assertHealthyReads();

        // a machine that stops for a second while somebody reads makes that read too slow, and hardly in all of the attempts
        for (int attempt = 1; !isSoonPast(trouble); attempt++) {
            assertThat(attempt).as("attempts in which reads were few, waited for longer than a time-out, or when the breaker was open").isLessThan(ATTEMPTS);
        }
    }

    /**
     * @return whether reads went on, and no read waited for more than a time-out, and none once the breaker was open; the owner is used again then in any case
     */
    private boolean isSoonPast(Trouble trouble)
            throws Exception
    {
        begin(trouble);
        ReadObserver observer = new ReadObserver();
        Collection<TimedRead> reads = readFor(TROUBLE, observer);
        end(trouble);
        Duration longestBefore = longest(reads, read -> read.begun().compareTo(OPEN_AFTER) < 0);
        Duration longestLater = longest(reads, read -> read.begun().compareTo(OPEN_AFTER) >= 0);
        System.out.printf("%s: %s reads, the longest, without the origin's time, %s ms, of those begun after %s ms %s ms; hedges %s; %s%n",
                trouble,
                reads.size(),
                longestBefore.toMillis(),
                OPEN_AFTER.toMillis(),
                longestLater.toMillis(),
                client.counters().get(CounterNames.HEDGES),
                observer.bypassBytes());
        assertThat(observer.bytes(ReadSource.BYPASS)).isEqualTo((long) reads.size() * BLOCK_SIZE);

        Await.until("the owner is used again", () -> nonLocalBytes(owned.getFirst()) > 0);
        // nobody waited for the owner when the breaker was open; a busy machine may take nearly as long, and its disk keep the origin waiting for seconds
        long later = reads.stream().filter(read -> read.begun().compareTo(OPEN_AFTER) >= 0).count();
        return later > READS_THAT_GO_ON && longestBefore.compareTo(SILENCE.plus(SLACK)) < 0 && longestLater.compareTo(SILENCE) < 0;
    }

    private long nonLocalBytes(int block)
    {
        ReadObserver observer = new ReadObserver();
        read(block, false, observer);
        return observer.bytes(ReadSource.NON_LOCAL_HIT);
    }

    private void assertHealthyReads()
    {
        ReadObserver healthy = new ReadObserver();
        Random random = new Random(2);
        for (int i = 0; i < HEALTHY_READS; i++) {
            read(owned.get(random.nextInt(owned.size())), false, healthy);
        }
        long hedges = client.counters().get(CounterNames.HEDGES);
        System.out.printf("healthy: %s hedges of %s reads%n", hedges, client.counters().get(CounterNames.REQUESTS));
        assertThat(hedges * 100).isLessThanOrEqualTo(client.counters().get(CounterNames.REQUESTS));
        // and those that a busy machine made slower than a time-out
        long late = healthy.bypassBytes().getOrDefault(BypassCause.TIMEOUT, 0L) + healthy.bypassBytes().getOrDefault(BypassCause.BREAKER_OPEN, 0L);
        assertThat(late).isLessThan(HEALTHY_READS / 100 * BLOCK_SIZE);
        assertThat(healthy.bytes(ReadSource.NON_LOCAL_HIT) + late).as("%s", healthy.bypassBytes()).isGreaterThanOrEqualTo((HEALTHY_READS - hedges) * BLOCK_SIZE);
    }

    private void begin(Trouble trouble)
    {
        switch (trouble) {
            case ACCEPTS_AND_NEVER_ANSWERS -> relay.setMode(Relay.Mode.SILENT);
            case ANSWERS_GARBAGE -> relay.setMode(Relay.Mode.GARBAGE);
            case RESETS -> relay.setMode(Relay.Mode.RESET);
            case STOPPED -> Shell.run("kill", "-STOP", Long.toString(owner.pid()));
        }
    }

    private void end(Trouble trouble)
    {
        if (trouble == Trouble.STOPPED) {
            Shell.run("kill", "-CONT", Long.toString(owner.pid()));
        }
        relay.setMode(Relay.Mode.FAITHFUL);
    }

    private Collection<TimedRead> readFor(Duration duration, ReadObserver observer)
            throws Exception
    {
        Collection<TimedRead> reads = new ConcurrentLinkedQueue<>();
        long start = System.nanoTime();
        List<Future<?>> readers = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(READERS)) {
            for (int reader = 0; reader < READERS; reader++) {
                Random random = new Random(reader);
                readers.add(executor.submit(() -> {
                    while (System.nanoTime() - start < duration.toNanos()) {
                        long begun = System.nanoTime();
                        long originNanos = read(owned.get(random.nextInt(owned.size())), false, observer);
                        reads.add(new TimedRead(Duration.ofNanos(begun - start), Duration.ofNanos(System.nanoTime() - begun - originNanos)));
                    }
                }));
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
        return reads;
    }

    private static Duration longest(Collection<TimedRead> reads, Predicate<TimedRead> which)
    {
        return reads.stream().filter(which).map(TimedRead::own).max(Duration::compareTo).orElse(Duration.ZERO);
    }

    /**
     * A block, with the right bytes.
     *
     * @param mayFill whether the owner may fetch the block
     * @return how long the origin took, as this reader asked it
     */
    private long read(int block, boolean mayFill, ReadObserver observer)
    {
        long[] originNanos = new long[1];
        OriginInput origin = lake.input(file);
        OriginInput timed = new OriginInput()
        {
            @Override
            public void readFully(long position, byte[] buffer, int offset, int length)
                    throws IOException
            {
                long start = System.nanoTime();
                origin.readFully(position, buffer, offset, length);
                originNanos[0] = System.nanoTime() - start;
            }

            @Override
            public int readTail(byte[] buffer, int offset, int maxLength)
                    throws IOException
            {
                return origin.readTail(buffer, offset, maxLength);
            }

            @Override
            public FileState current()
                    throws IOException
            {
                return origin.current();
            }
        };
        byte[] bytes = new byte[BLOCK_SIZE];
        try {
            client.open(0, file.file(), new ReadScope("schema.table", Optional.of(ring.epoch()), mayFill, observer), timed)
                    .readFully((long) block * BLOCK_SIZE, bytes, 0, bytes.length);
        }
        catch (IOException e) {
            throw new AssertionError("a read failed, which a query would have", e);
        }
        assertThat(bytes).isEqualTo(file.block(block));
        return originNanos[0];
    }
}
