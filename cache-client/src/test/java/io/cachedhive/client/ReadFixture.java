package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;
import io.cachedhive.client.counters.ReadObserver;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.cachedhive.protocol.ring.HashRing;
import io.cachedhive.protocol.ring.PublishedRing;
import io.cachedhive.protocol.ring.RingEpoch;
import io.cachedhive.protocol.ring.RingMember;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.testing.Await;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.LongSupplier;

import static java.util.Comparator.reverseOrder;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A host with a worker, other workers, a file and a client that reads it.
 */
final class ReadFixture
        implements AutoCloseable
{
    static final int BLOCK = 128 << 10;
    static final long CHUNK = 4 * BLOCK;
    static final int BLOCKS = 12;
    static final int TAIL = 1000;
    static final String TABLE = "schema.table";
    static final Optional<String> SECRET = Optional.of("the secret of this test");
    static final OriginId ORIGIN = OriginId.of("s3", Optional.of("http://127.0.0.1:1"), Optional.empty());
    /** For answers that come: longer than a busy machine may take. */
    static final Timeouts PATIENT = new Timeouts(30_000, 60_000, 100, 200);
    /** For answers that do not come; long enough for those that do all the same. */
    static final Timeouts HASTY = new Timeouts(1000, 3000, 100, 200);
    /** Longer than a test may take: a reader that waits for it fails the test. */
    static final long NEVER_MILLIS = 600_000;

    private final Path directory = Files.createTempDirectory("cachedhive-client");
    private final List<TestingWorker> workers = new ArrayList<>();
    private final List<CacheClient> clients = new ArrayList<>();
    final Path socket = directory.resolve("worker.sock");
    final TestingWorker local = worker("local");
    final byte[] bytes = new byte[(BLOCKS - 1) * BLOCK + TAIL];
    final FileVersion file = new FileVersion(ORIGIN, "s3://bucket/file", bytes.length, 1_700_000_000_000L);
    final TestingInput input;
    final ReadObserver observer = new ReadObserver();

    ReadFixture()
            throws IOException
    {
        new Random(1).nextBytes(bytes);
        input = new TestingInput(file, bytes);
        local.addFile(file, bytes);
    }

    TestingWorker worker(String id)
    {
        return worker(id, SECRET);
    }

    TestingWorker worker(String id, Optional<String> secret)
    {
        TestingWorker worker = new TestingWorker(id, BLOCK, secret);
        if (bytes != null) {
            worker.addFile(file, bytes);
        }
        workers.add(worker);
        return worker;
    }

    void listen()
            throws IOException
    {
        local.listen(socket);
    }

    static ClientIdentity identity()
    {
        return identity(SECRET);
    }

    static ClientIdentity identity(Optional<String> secret)
    {
        return new ClientIdentity("cluster", "catalog", "node", List.of(new NamedOrigin("default", ORIGIN)), Secrets.of(secret.stream().toArray(String[]::new)));
    }

    CacheClient client()
    {
        return client(PATIENT);
    }

    CacheClient client(Timeouts timeouts)
    {
        return client(timeouts, CacheClientConfig.Limits.DEFAULT, SECRET);
    }

    CacheClient client(Timeouts timeouts, CacheClientConfig.Limits limits, Optional<String> secret)
    {
        return client(timeouts, limits, secret, System::nanoTime);
    }

    CacheClient client(Timeouts timeouts, CacheClientConfig.Limits limits, Optional<String> secret, LongSupplier nanoTime)
    {
        // a client requires proof of its secret on the Unix socket, too
        local.secret = secret;
        CacheClient client = CacheClient.start(new CacheClientConfig(socket, identity(secret), CHUNK, limits, timeouts), _ -> local.memory.map(), nanoTime);
        clients.add(client);
        return client;
    }

    /**
     * Waits until the local worker is used.
     */
    CacheClient connected(CacheClient client)
    {
        Await.until("connected", () -> client.local().connected());
        return client;
    }

    CachedFile open(CacheClient client)
    {
        return open(client, Optional.empty(), true);
    }

    CachedFile open(CacheClient client, Optional<RingEpoch> epoch, boolean mayFill)
    {
        return open(client, new ReadScope(TABLE, epoch, mayFill, observer));
    }

    CachedFile open(CacheClient client, ReadScope scope)
    {
        try {
            return client.open(0, file, scope, input);
        }
        catch (FileReplacedException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Publishes a ring of the workers.
     */
    PublishedRing publish(Map<TestingWorker, Optional<WorkerAddress>> members)
    {
        PublishedRing ring = ring(members, System.currentTimeMillis());
        List<PublishedRing> rings = new ArrayList<>(List.of(ring));
        rings.addAll(local.rings);
        local.setRings(rings);
        return ring;
    }

    static PublishedRing ring(Map<TestingWorker, Optional<WorkerAddress>> members, long publishedMillis)
    {
        Map<CacheWorkerId, WorkerAddress> addresses = new HashMap<>();
        members.forEach((worker, address) -> address.ifPresent(value -> addresses.put(worker.id(), value)));
        return new PublishedRing(
                HashRing.of(members.keySet().stream().map(worker -> new RingMember(worker.id(), 100, Optional.empty())).toList()),
                addresses,
                publishedMillis);
    }

    /**
     * The first byte of a chunk that the worker owns.
     */
    long chunkOf(PublishedRing ring, TestingWorker worker)
    {
        long hash = ChunkKey.locationHash(file.origin(), file.location());
        for (long position = 0; position < bytes.length; position += CHUNK) {
            if (ring.ring().owner(ChunkKey.at(hash, position, CHUNK)).orElseThrow().equals(worker.id())) {
                return position;
            }
        }
        throw new AssertionError("%s owns no chunk of the file: choose another id".formatted(worker.id()));
    }

    /**
     * Reads until an answer of another host's worker is in time: how late earlier ones were says nothing about the reads that follow.
     */
    void awaitHit(CachedFile cached, long position, int length)
    {
        Await.until("the worker of another host answers in time", () -> {
            long before = observer.bytes(ReadSource.NON_LOCAL_HIT);
            assertReads(cached, position, length);
            return observer.bytes(ReadSource.NON_LOCAL_HIT) > before;
        });
    }

    byte[] read(CachedFile cached, long position, int length)
            throws IOException
    {
        byte[] target = new byte[length + 20];
        Arrays.fill(target, (byte) 0x55);
        cached.readFully(position, target, 10, length);
        for (int i = 0; i < 10; i++) {
            assertThat(target[i]).isEqualTo((byte) 0x55);
            assertThat(target[length + 10 + i]).isEqualTo((byte) 0x55);
        }
        return Arrays.copyOfRange(target, 10, 10 + length);
    }

    /**
     * What a stream was given by the cache, or by a hedge.
     */
    static ReadAhead served(StreamRead read)
    {
        assertThat(read).isInstanceOf(StreamRead.Served.class);
        return ((StreamRead.Served) read).bytes();
    }

    byte[] expected(long position, int length)
    {
        return Arrays.copyOfRange(bytes, (int) position, (int) position + length);
    }

    void assertReads(CachedFile cached, long position, int length)
            throws IOException
    {
        assertThat(Arrays.equals(read(cached, position, length), expected(position, length)))
                .describedAs("bytes of %s at %s", length, position)
                .isTrue();
    }

    /**
     * Everything that was read came from these sources, and from no others; the client and the scan count alike.
     */
    void assertSources(CacheClient client, Map<ReadSource, Long> bytesBySource)
    {
        for (ReadSource source : ReadSource.values()) {
            long expected = bytesBySource.getOrDefault(source, 0L);
            assertThat(observer.bytes(source)).describedAs("%s of the scan, bypass %s", source, observer.bypassBytes()).isEqualTo(expected);
            assertThat(client.counters().get(source.bytesCounter())).describedAs(source.bytesCounter()).isEqualTo(expected);
            assertThat(client.counters().get(source.requestsCounter())).describedAs(source.requestsCounter()).isEqualTo(observer.requests(source));
        }
        assertThat(client.counters().get(CounterNames.REQUESTS)).isEqualTo(observer.requests());
    }

    void assertBypassed(CacheClient client, BypassCause cause, long bytes)
    {
        assertSources(client, Map.of(ReadSource.BYPASS, bytes));
        assertThat(observer.bypassBytes()).isEqualTo(Map.of(cause, bytes));
        assertThat(client.counters().get(cause.counter())).isEqualTo(bytes);
    }

    /**
     * Nothing is left of what was read.
     */
    static void assertIdle(CacheClient client)
            throws Exception
    {
        Await.untilAsserted("nothing is under way", () -> assertThat(client.inFlight()).isEqualTo(new CacheClient.InFlight(0, 0)));
    }

    @Override
    public void close()
            throws IOException
    {
        clients.forEach(CacheClient::close);
        for (TestingWorker worker : workers) {
            worker.close();
        }
        try (var files = Files.walk(directory)) {
            for (Path path : files.sorted(reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /**
     * All that a client counted, of whatever table, without zeros.
     */
    static Map<String, Long> counted(CacheClient client)
    {
        Map<String, Long> counted = new HashMap<>(client.counters().totals());
        counted.values().removeIf(value -> value == 0);
        return counted;
    }
}
