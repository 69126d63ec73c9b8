package io.cachedhive.hive.filesystem;

import io.airlift.slice.Slice;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.hive.TestingCacheWorker;
import io.cachedhive.plugin.client.NodeCacheClient;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.trino.context.ReadContext;
import io.cachedhive.trino.context.SplitFile;
import io.cachedhive.trino.filesystem.CachedHiveFileSystemCache;
import io.opentelemetry.api.OpenTelemetry;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.TrinoInputStream;
import io.trino.filesystem.s3.S3FileSystemConfig;
import io.trino.filesystem.s3.S3FileSystemFactory;
import io.trino.filesystem.s3.S3FileSystemStats;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.security.ConnectorIdentity;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Trino's S3 input and stream, and those of the cache, keep to the same contract: with a cache worker, and without one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestCachedInputContract
{
    private static final ConnectorIdentity IDENTITY = ConnectorIdentity.ofUser("user");
    private static final int FILE_BYTES = (6 << 20) + 123;
    // so that it cannot have been overwritten unseen
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");

    private final byte[] content = new byte[FILE_BYTES];
    private S3Server s3;
    private S3FileSystemFactory factory;
    private FileOrigins origins;
    private TestingCacheWorker worker;
    // of a host without a cache worker
    private NodeCacheClient client;
    private CachedHiveFileSystemCache cache;
    private NodeCacheClient workerClient;
    private CachedHiveFileSystemCache workerCache;

    enum Implementation
    {
        S3, WITHOUT_WORKER, WITH_WORKER
    }

    @BeforeAll
    void start(@TempDir Path directory)
            throws IOException
    {
        new Random(42).nextBytes(content);
        s3 = S3Server.builder().directory(Files.createDirectories(directory.resolve("s3"))).bucket("lake").start();
        Map<String, String> s3Properties = s3.clientProperties();
        factory = new S3FileSystemFactory(
                OpenTelemetry.noop(),
                new S3FileSystemConfig()
                        .setEndpoint(s3Properties.get("s3.endpoint"))
                        .setRegion(s3Properties.get("s3.region"))
                        .setPathStyleAccess(true)
                        .setAwsAccessKey(s3Properties.get("s3.aws-access-key"))
                        .setAwsSecretKey(s3Properties.get("s3.aws-secret-key")),
                new S3FileSystemStats());
        put("file", content);
        put("empty", new byte[0]);

        Map<String, String> properties = new HashMap<>(s3Properties);
        properties.put("fs.s3.enabled", "true");
        origins = FileOrigins.of("default", properties, false);
        client = client(directory.resolve("nobody.sock"));
        cache = new CachedHiveFileSystemCache(new CatalogName("lake"), origins, client);
        worker = new TestingCacheWorker(Files.createDirectories(directory.resolve("worker")), s3Properties);
        worker.start();
        workerClient = client(worker.socketPath());
        workerCache = new CachedHiveFileSystemCache(new CatalogName("lake"), origins, workerClient);
        Await.until("the cache worker is there", () -> workerClient.get().local().connected());
    }

    private NodeCacheClient client(Path socket)
    {
        return new NodeCacheClient(new CacheClientConfig(
                socket,
                new ClientIdentity("cluster", "lake", "node", origins.origins(), TestingCacheWorker.SECRETS),
                8 << 20,
                CacheClientConfig.Limits.DEFAULT,
                // answers of the worker come, also when the machine is busy
                new Timeouts(30_000, 60_000, Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis())));
    }

    private void put(String name, byte[] bytes)
            throws IOException
    {
        factory.create(IDENTITY).newOutputFile(Location.of("s3://lake/" + name)).createOrOverwrite(bytes);
        s3.setLastModified("lake", name, WRITTEN);
    }

    @AfterAll
    void stop()
    {
        client.close();
        workerClient.close();
        worker.close();
        factory.destroy();
        s3.close();
    }

    private TrinoInput input(Implementation implementation, String name, long length)
            throws IOException
    {
        TrinoInputFile file = file(name, length);
        if (implementation == Implementation.S3) {
            return file.newInput();
        }
        try (ReadContext.Opened _ = context(name, length).open()) {
            return cache(implementation).cacheInput(file, "key");
        }
    }

    private TrinoInputStream stream(Implementation implementation, String name, long length)
            throws IOException
    {
        TrinoInputFile file = file(name, length);
        if (implementation == Implementation.S3) {
            return file.newStream();
        }
        try (ReadContext.Opened _ = context(name, length).open()) {
            return cache(implementation).cacheStream(file, "key");
        }
    }

    private CachedHiveFileSystemCache cache(Implementation implementation)
    {
        return implementation == Implementation.WITH_WORKER ? workerCache : cache;
    }

    private TrinoInputFile file(String name, long length)
    {
        return factory.create(IDENTITY).newInputFile(Location.of("s3://lake/" + name), length, WRITTEN);
    }

    private ReadContext context(String name, long length)
    {
        return new ReadContext(
                "lake",
                "query",
                new SchemaTableName("s", "t"),
                () -> factory.create(IDENTITY),
                CacheDecision.CACHE,
                Optional.empty(),
                new SplitFile(Location.of("s3://lake/" + name), length, WRITTEN.toEpochMilli(), length));
    }

    @ParameterizedTest
    @EnumSource
    void testReadFully(Implementation implementation)
            throws IOException
    {
        try (TrinoInput input = input(implementation, "file", FILE_BYTES)) {
            byte[] buffer = new byte[100];
            input.readFully(1_048_570, buffer, 10, 20);
            assertThat(Arrays.copyOfRange(buffer, 10, 30)).isEqualTo(range(1_048_570, 20));
            assertThat(Arrays.copyOfRange(buffer, 0, 10)).containsOnly(0);
            assertThat(Arrays.copyOfRange(buffer, 30, 100)).containsOnly(0);

            Slice slice = input.readFully(FILE_BYTES - 5, 5);
            assertThat(slice.getBytes()).isEqualTo(range(FILE_BYTES - 5, 5));

            // nothing to read, wherever
            input.readFully(0, buffer, 0, 0);
            input.readFully(FILE_BYTES, buffer, 0, 0);
            input.readFully(FILE_BYTES + 7, buffer, 100, 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testReadFullyRefuses(Implementation implementation)
            throws IOException
    {
        try (TrinoInput input = input(implementation, "file", FILE_BYTES)) {
            byte[] buffer = new byte[100];
            assertThatThrownBy(() -> input.readFully(-1, buffer, 0, 10))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("Negative seek offset");
            assertThatThrownBy(() -> input.readFully(-1, buffer, 0, 0))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("Negative seek offset");
            assertThatThrownBy(() -> input.readFully(0, buffer, 95, 10)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> input.readFully(0, buffer, -1, 10)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> input.readFully(0, buffer, 0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> input.readFully(FILE_BYTES - 5, buffer, 0, 10))
                    .isExactlyInstanceOf(EOFException.class)
                    .hasMessage("Read 5 of 10 requested bytes: s3://lake/file");
            // S3 answers 416, which Trino passes on as some IOException
            assertThatThrownBy(() -> input.readFully(FILE_BYTES + 5, buffer, 0, 10)).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testReadTail(Implementation implementation)
            throws IOException
    {
        try (TrinoInput input = input(implementation, "file", FILE_BYTES)) {
            byte[] buffer = new byte[FILE_BYTES + 100];
            assertThat(input.readTail(buffer, 3, 10)).isEqualTo(10);
            assertThat(Arrays.copyOfRange(buffer, 3, 13)).isEqualTo(range(FILE_BYTES - 10, 10));
            assertThat(buffer[13]).isZero();
            assertThat(input.readTail(buffer, 0, 0)).isZero();
            assertThat(input.readTail(7).getBytes()).isEqualTo(range(FILE_BYTES - 7, 7));

            assertThat(input.readTail(buffer, 0, buffer.length)).as("the file is shorter").isEqualTo(FILE_BYTES);
            assertThat(Arrays.copyOf(buffer, FILE_BYTES)).isEqualTo(content);
            assertThatThrownBy(() -> input.readTail(buffer, 0, buffer.length + 1)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testClosedInput(Implementation implementation)
            throws IOException
    {
        TrinoInput input = input(implementation, "file", FILE_BYTES);
        input.readFully(0, 10);
        input.close();
        input.close();
        assertThatThrownBy(() -> input.readFully(0, 10))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("Input closed: s3://lake/file");
        assertThatThrownBy(() -> input.readFully(-1, new byte[1], 5, 0))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("Input closed: s3://lake/file");
        assertThatThrownBy(() -> input.readTail(10))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("Input closed: s3://lake/file");
    }

    @ParameterizedTest
    @EnumSource
    void testStreamFromFrontToBack(Implementation implementation)
            throws IOException
    {
        try (TrinoInputStream stream = stream(implementation, "file", FILE_BYTES)) {
            assertThat(stream.getPosition()).isZero();
            assertThat(stream.read()).isEqualTo(content[0] & 0xFF);
            assertThat(stream.getPosition()).isEqualTo(1);
            assertThat(stream.read(new byte[10], 0, 0)).isZero();
            byte[] read = new byte[FILE_BYTES];
            int position = 1;
            Random random = new Random(7);
            while (true) {
                int count = stream.read(read, position, Math.min(1 + random.nextInt(200_000), FILE_BYTES - position));
                if (count <= 0) {
                    break;
                }
                position += count;
                assertThat(stream.getPosition()).isEqualTo(position);
            }
            assertThat(position).isEqualTo(FILE_BYTES);
            assertThat(Arrays.copyOfRange(read, 1, FILE_BYTES)).isEqualTo(range(1, FILE_BYTES - 1));
            assertThat(stream.read()).isEqualTo(-1);
            assertThat(stream.read(new byte[10], 0, 10)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testStreamReadAll(Implementation implementation)
            throws IOException
    {
        try (TrinoInputStream stream = stream(implementation, "file", FILE_BYTES)) {
            assertThat(stream.readAllBytes()).isEqualTo(content);
            assertThat(stream.getPosition()).isEqualTo(FILE_BYTES);
            assertThat(stream.readAllBytes()).isEmpty();
        }
        try (TrinoInputStream stream = stream(implementation, "file", FILE_BYTES)) {
            assertThat(stream.readNBytes(5)).isEqualTo(range(0, 5));
            assertThat(stream.readAllBytes()).isEqualTo(range(5, FILE_BYTES - 5));
        }
        try (TrinoInputStream stream = stream(implementation, "file", FILE_BYTES)) {
            stream.seek(FILE_BYTES - 10);
            assertThat(stream.readNBytes(100)).isEqualTo(range(FILE_BYTES - 10, 10));
            assertThat(stream.readNBytes(0)).isEmpty();
            assertThatThrownBy(() -> stream.readNBytes(-1)).isInstanceOf(IllegalArgumentException.class);
        }
        try (TrinoInputStream stream = stream(implementation, "empty", 0)) {
            assertThat(stream.readAllBytes()).isEmpty();
            assertThat(stream.read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testStreamSeeks(Implementation implementation)
            throws IOException
    {
        try (TrinoInputStream stream = stream(implementation, "file", FILE_BYTES)) {
            Random random = new Random(9);
            for (int i = 0; i < 50; i++) {
                int position = random.nextInt(FILE_BYTES - 100);
                stream.seek(position);
                assertThat(stream.getPosition()).isEqualTo(position);
                assertThat(stream.readNBytes(100)).isEqualTo(range(position, 100));
            }
            // as Avro's reader does, which reads a file's header twice
            for (int i = 0; i < 3; i++) {
                stream.seek(0);
                assertThat(stream.readNBytes(10_000)).isEqualTo(range(0, 10_000));
            }
            assertThat(stream.readNBytes(2 << 20)).isEqualTo(range(10_000, 2 << 20));
            byte[] buffer = new byte[4096];
            for (int position = 0; position < 3 << 20; ) {
                stream.seek(position);
                assertThat(stream.read()).isEqualTo(content[position] & 0xFF);
                stream.seek(position);
                int count = stream.read(buffer);
                assertThat(Arrays.copyOf(buffer, count)).isEqualTo(range(position, count));
                position += count;
            }

            stream.seek(FILE_BYTES);
            assertThat(stream.getPosition()).isEqualTo(FILE_BYTES);
            assertThat(stream.available()).isZero();

            assertThatThrownBy(() -> stream.seek(-1))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("Negative seek offset");
            assertThatThrownBy(() -> stream.seek(FILE_BYTES + 1))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("Cannot seek to %s. File size is %s: s3://lake/file".formatted(FILE_BYTES + 1, FILE_BYTES));
            assertThat(stream.getPosition()).isEqualTo(FILE_BYTES);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testStreamSkips(Implementation implementation)
            throws IOException
    {
        try (TrinoInputStream stream = stream(implementation, "file", FILE_BYTES)) {
            assertThat(stream.skip(10)).isEqualTo(10);
            assertThat(stream.skip(0)).isZero();
            assertThat(stream.skip(-5)).isZero();
            stream.skipNBytes(5);
            stream.skipNBytes(0);
            stream.skipNBytes(-5);
            assertThat(stream.getPosition()).isEqualTo(15);
            assertThat(stream.read()).isEqualTo(content[15] & 0xFF);
            assertThatThrownBy(() -> stream.skipNBytes(FILE_BYTES))
                    .isExactlyInstanceOf(EOFException.class)
                    .hasMessage("Unable to skip %s bytes (position=16, fileSize=%s): s3://lake/file".formatted(FILE_BYTES, FILE_BYTES));
            assertThatThrownBy(() -> stream.skipNBytes(Long.MAX_VALUE)).isExactlyInstanceOf(EOFException.class);
            assertThat(stream.getPosition()).isEqualTo(16);
            assertThat(stream.skip(Long.MAX_VALUE)).isEqualTo(FILE_BYTES - 16);
            assertThat(stream.getPosition()).isEqualTo(FILE_BYTES);
        }
    }

    @ParameterizedTest
    @EnumSource
    void testClosedStream(Implementation implementation)
            throws IOException
    {
        TrinoInputStream stream = stream(implementation, "file", FILE_BYTES);
        stream.readNBytes(10);
        stream.close();
        stream.close();
        String message = "Input stream closed: s3://lake/file";
        assertThatThrownBy(stream::read).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThatThrownBy(() -> stream.read(new byte[1], 0, 1)).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThatThrownBy(stream::readAllBytes).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThatThrownBy(() -> stream.seek(0)).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThatThrownBy(() -> stream.skip(1)).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThatThrownBy(() -> stream.skipNBytes(1)).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThatThrownBy(stream::available).isExactlyInstanceOf(IOException.class).hasMessage(message);
        assertThat(stream.getPosition()).isEqualTo(10);
    }

    @Test
    void testCountsWhatIsAskedForNotWhatIsReadAhead()
            throws IOException
    {
        ReadContext context = context("file", FILE_BYTES);
        long requestedBefore = client.totals().get(CounterNames.REQUESTED_BYTES);
        long bypassBefore = client.totals().get(CounterNames.BYPASS_BYTES);
        try (ReadContext.Opened _ = context.open();
                TrinoInputStream stream = cache.cacheStream(file("file", FILE_BYTES), "key")) {
            stream.readNBytes(1000);
            stream.skipNBytes(500);
            stream.read();
            stream.seek(3 << 20);
            stream.readNBytes(2 << 20);
            // what is asked for again counts again
            stream.seek(0);
            stream.readNBytes(1 << 19);
            stream.seek(0);
            stream.readNBytes(3 << 19);
        }
        long expected = 1001 + (4 << 20);
        assertThat(context.requestedBytes()).isEqualTo(expected);
        assertThat(context.observer().totalBytes()).isEqualTo(expected);
        assertThat(client.totals().get(CounterNames.REQUESTED_BYTES) - requestedBefore).isEqualTo(expected);
        assertThat(client.totals().get(CounterNames.BYPASS_BYTES) - bypassBefore).isEqualTo(expected);
    }

    @Test
    void testServedByTheWorker()
            throws IOException
    {
        ReadContext context = context("file", FILE_BYTES);
        try (ReadContext.Opened _ = context.open();
                TrinoInput input = workerCache.cacheInput(file("file", FILE_BYTES), "key");
                TrinoInputStream stream = workerCache.cacheStream(file("file", FILE_BYTES), "key")) {
            assertThat(input.readFully(5, FILE_BYTES - 5).getBytes()).isEqualTo(range(5, FILE_BYTES - 5));
            assertThat(stream.readAllBytes()).isEqualTo(content);
            byte[] buffer = new byte[100];
            assertThatThrownBy(() -> input.readFully(FILE_BYTES - 5, buffer, 0, 10))
                    .isExactlyInstanceOf(EOFException.class)
                    .hasMessage("Read 5 of 10 requested bytes: s3://lake/file");
            assertThatThrownBy(() -> input.readFully(FILE_BYTES + 5, buffer, 0, 10)).isExactlyInstanceOf(EOFException.class);
        }
        assertThat(context.observer().totalBytes()).isEqualTo(2L * FILE_BYTES - 5);
        assertThat(context.observer().bytes(ReadSource.BYPASS)).as("bypassed: %s", context.observer().bypassBytes()).isZero();
    }

    @Test
    void testStreamIsOneRequestOfTheOrigin()
            throws IOException
    {
        put("text", content);
        long mark = s3.log().mark();
        try (TrinoInputStream stream = stream(Implementation.WITHOUT_WORKER, "text", FILE_BYTES)) {
            byte[] buffer = new byte[1024];
            int count;
            do {
                // like a text reader
                count = stream.read(buffer);
            }
            while (count >= 0);
        }
        // a request is logged when it ends, so that other tests' requests may be among these
        List<S3Request> requests = s3.log().since(mark).stream()
                .filter(request -> request.key().equals(Optional.of("text")))
                .toList();
        assertThat(requests).extracting(S3Request::method).containsExactly("GET");
    }

    private byte[] range(int position, int length)
    {
        return Arrays.copyOfRange(content, position, position + length);
    }
}
