package io.cachedhive.worker;

import io.cachedhive.client.CacheClient;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.ReadScope;
import io.cachedhive.client.admin.WorkerAdmin;
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
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static io.cachedhive.worker.testing.TestingWorker.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers on one host whose chunks' owner, a cache worker in a process of its own, gets into trouble: their reads go on, and few of them wait for a time-out.
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
    private static final int READS_IN_TROUBLE = 100;
    // longer than a test may take: a reader that waits for it fails the test
    private static final long NEVER_MILLIS = 3_600_000;
    // readers that take all the time that the owner needs
    private static final Timeouts PATIENT = new Timeouts(NEVER_MILLIS, NEVER_MILLIS, Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis());
    // the time-outs as users have them, while no probe is due and nothing is hedged
    private static final Timeouts UNPROBED =
            new Timeouts(Timeouts.DEFAULT.silenceMillis(), Timeouts.DEFAULT.fetchMillis(), Timeouts.DEFAULT.reconnectMillis(), NEVER_MILLIS, NEVER_MILLIS);
    // silent reads in a row that open the breaker
    private static final int SILENCES = 3;

    private Path ramDirectory;
    private Lake lake;
    private StoredFile file;
    private TestingWorker local;
    private Process owner;
    private Relay relay;
    private ClientIdentity identity;
    private final List<CacheClient> clients = new ArrayList<>();
    private PublishedRing ring;
    private List<Integer> owned;

    enum Trouble
    {
        ACCEPTS_AND_NEVER_ANSWERS,
        ANSWERS_GARBAGE,
        RESETS,
        STOPPED;

        boolean isSilent()
        {
            return this == ACCEPTS_AND_NEVER_ANSWERS || this == STOPPED;
        }
    }

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
                "internal-communication.shared-secret", TestingWorker.SECRET,
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
        clients.forEach(CacheClient::close);
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
    private void publish(WorkerAddress address)
            throws Exception
    {
        identity = new ClientIdentity("cluster", "lake", "node", local.origins(), TestingWorker.SECRETS);
        CacheWorkerId ownerId;
        try (WorkerAdmin admin = WorkerAdmin.start(identity, Optional.empty(), new Timeouts(30_000, 30_000, 100, 1000))) {
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
    }

    private CacheClient client(Timeouts timeouts)
    {
        CacheClient client = CacheClient.start(new CacheClientConfig(local.socketPath(), identity, (long) CHUNK_BLOCKS * BLOCK_SIZE).withTimeouts(timeouts));
        clients.add(client);
        Await.until("the client knows the ring", () -> client.local().connected() && client.newestRing().isPresent());
        return client;
    }

    @ParameterizedTest
    @EnumSource
    void testReadsGoOn(Trouble trouble)
            throws Exception
    {
        publish(trouble == Trouble.STOPPED ? relay.worker() : relay.address());
        CacheClient patient = client(PATIENT);
        ReadObserver filling = new ReadObserver();
        for (int block : owned) {
            read(patient, block, true, filling);
            // a read that was hedged may have left nothing
            awaitHit(patient, block, true);
        }
        assertThat(filling.bytes(ReadSource.REMOTE_READ)).as("fetched by the owner: %s", filling.bypassBytes()).isPositive();
        assertHealthyReads(patient);

        CacheClient troubled = trouble.isSilent() ? client(UNPROBED) : patient;
        CacheClient usual = client(Timeouts.DEFAULT);
        awaitHit(troubled, owned.getFirst(), false);
        awaitHit(usual, owned.getFirst(), false);
        begin(trouble);
        ReadObserver observer = new ReadObserver();
        readByAll(troubled, observer);
        Map<BypassCause, Long> causes = observer.bypassBytes();
        System.out.printf("%s: %s%n", trouble, causes);
        assertThat(observer.bytes(ReadSource.BYPASS)).isEqualTo((long) READERS * READS_IN_TROUBLE * BLOCK_SIZE);
        if (trouble.isSilent()) {
            // those that open the breaker, and one of each other reader that was under way then
            assertThat(causes.keySet()).isEqualTo(Set.of(BypassCause.TIMEOUT, BypassCause.BREAKER_OPEN));
            assertThat(causes.get(BypassCause.TIMEOUT) / BLOCK_SIZE).as("reads that waited").isBetween((long) SILENCES, SILENCES + READERS - 1L);
        }
        else {
            // whose readers would wait forever
            assertThat(causes.keySet()).doesNotContain(BypassCause.TIMEOUT, BypassCause.BREAKER_OPEN);
        }
        readByAll(usual, new ReadObserver());

        end(trouble);
        awaitHit(usual, owned.getFirst(), false);
    }

    private void awaitHit(CacheClient client, int block, boolean mayFill)
    {
        Await.until("the owner is used", () -> {
            ReadObserver observer = new ReadObserver();
            read(client, block, mayFill, observer);
            return observer.bytes(ReadSource.NON_LOCAL_HIT) > 0;
        });
    }

    /**
     * Readers that wait for the owner lose nothing but what is hedged, of which there may be one in a hundred reads.
     */
    private void assertHealthyReads(CacheClient client)
    {
        ReadObserver healthy = new ReadObserver();
        Random random = new Random(2);
        for (int i = 0; i < HEALTHY_READS; i++) {
            read(client, owned.get(random.nextInt(owned.size())), false, healthy);
        }
        long hedges = client.counters().get(CounterNames.HEDGES);
        System.out.printf("healthy: %s hedges of %s reads%n", hedges, client.counters().get(CounterNames.REQUESTS));
        assertThat(hedges * 100).isLessThanOrEqualTo(client.counters().get(CounterNames.REQUESTS));
        assertThat(healthy.bypassBytes().keySet()).isSubsetOf(BypassCause.HEDGED);
        assertThat(healthy.bytes(ReadSource.NON_LOCAL_HIT)).isGreaterThanOrEqualTo((HEALTHY_READS - hedges) * BLOCK_SIZE);
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

    private void readByAll(CacheClient client, ReadObserver observer)
            throws Exception
    {
        List<Future<?>> readers = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(READERS)) {
            for (int reader = 0; reader < READERS; reader++) {
                Random random = new Random(reader);
                readers.add(executor.submit(() -> {
                    for (int i = 0; i < READS_IN_TROUBLE; i++) {
                        read(client, owned.get(random.nextInt(owned.size())), false, observer);
                    }
                }));
            }
            for (Future<?> reader : readers) {
                reader.get();
            }
        }
    }

    /**
     * A block, with the right bytes.
     *
     * @param mayFill whether the owner may fetch the block
     */
    private void read(CacheClient client, int block, boolean mayFill, ReadObserver observer)
    {
        byte[] bytes = new byte[BLOCK_SIZE];
        try {
            client.open(0, file.file(), new ReadScope("schema.table", Optional.of(ring.epoch()), mayFill, observer), lake.input(file))
                    .readFully((long) block * BLOCK_SIZE, bytes, 0, bytes.length);
        }
        catch (IOException e) {
            throw new AssertionError("a read failed, which a query would have", e);
        }
        assertThat(bytes).isEqualTo(file.block(block));
    }
}
