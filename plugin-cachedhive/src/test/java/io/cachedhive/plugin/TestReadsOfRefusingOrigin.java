package io.cachedhive.plugin;

import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.connection.ClientIdentity;
import io.cachedhive.plugin.context.CacheDecision;
import io.cachedhive.plugin.context.ReadContext;
import io.cachedhive.plugin.context.SplitFile;
import io.cachedhive.plugin.filesystem.CachedHiveFileSystemCache;
import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.plugin.filesystem.NodeCacheClient;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.quickstart.s3.S3Faults;
import io.cachedhive.quickstart.s3.S3Request;
import io.cachedhive.quickstart.s3.S3Server;
import io.opentelemetry.api.OpenTelemetry;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.s3.S3FileSystemConfig;
import io.trino.filesystem.s3.S3FileSystemFactory;
import io.trino.filesystem.s3.S3FileSystemStats;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.security.ConnectorIdentity;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static io.airlift.testing.Closeables.closeAll;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * An object store that refuses requests as too many: the same reads through Trino's S3 file system and through the cache.
 *
 * <p>The server refuses by the order in which requests arrive, from a seed: the same for both, so that it takes the same number of requests to make the same number
 * of reads, in whatever order.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TestReadsOfRefusingOrigin
{
    private static final ConnectorIdentity IDENTITY = ConnectorIdentity.ofUser("user");
    private static final int READERS = 32;
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");
    private static final int LARGE_FILE_BYTES = 3 << 20;
    private static final int SMALL_FILE_BYTES = 50 << 10;
    private static final int READ_BYTES = 1 << 20;
    // a minute of refusals takes about 1500
    private static final int FILES = Integer.getInteger("refused.files", 150);

    private final byte[] content = new byte[LARGE_FILE_BYTES];
    private S3Server s3;
    private TestingCacheWorker worker;
    private S3FileSystemFactory factory;
    private NodeCacheClient client;
    private CachedHiveFileSystemCache cache;
    private ExecutorService executor;

    @BeforeAll
    void start(@TempDir Path directory)
            throws IOException
    {
        new Random(42).nextBytes(content);
        s3 = S3Server.builder().directory(Files.createDirectories(directory.resolve("s3"))).bucket("lake").start();
        Map<String, String> s3Properties = s3.clientProperties();
        worker = new TestingCacheWorker(directory, s3Properties);
        worker.start();
        // retries are Trino's own, which are also the cache worker's
        factory = new S3FileSystemFactory(
                OpenTelemetry.noop(),
                new S3FileSystemConfig()
                        .setEndpoint(s3Properties.get("s3.endpoint"))
                        .setRegion(s3Properties.get("s3.region"))
                        .setPathStyleAccess(true)
                        .setAwsAccessKey(s3Properties.get("s3.aws-access-key"))
                        .setAwsSecretKey(s3Properties.get("s3.aws-secret-key")),
                new S3FileSystemStats());
        Map<String, String> properties = new HashMap<>(s3Properties);
        properties.put("fs.s3.enabled", "true");
        FileOrigins origins = FileOrigins.of("default", properties, false);
        client = new NodeCacheClient(new CacheClientConfig(
                worker.socketPath(),
                new ClientIdentity("cluster", "lake", "node", origins.origins(), Optional.empty()),
                8 << 20));
        cache = new CachedHiveFileSystemCache(new CatalogName("lake"), origins, client, () -> factory);
        executor = Executors.newFixedThreadPool(READERS);
        for (int file = 0; file < FILES; file++) {
            factory.create(IDENTITY).newOutputFile(location(file)).createOrOverwrite(Arrays.copyOf(content, length(file)));
            s3.setLastModified("lake", "table/file" + file, WRITTEN);
        }
    }

    @AfterAll
    void stop()
            throws Exception
    {
        executor.shutdownNow();
        client.close();
        factory.destroy();
        closeAll(worker, s3);
    }

    private static Location location(int file)
    {
        return Location.of("s3://lake/table/file" + file);
    }

    // mostly small ones
    private static int length(int file)
    {
        return file % 10 == 0 ? LARGE_FILE_BYTES : SMALL_FILE_BYTES;
    }

    private interface Opener
    {
        TrinoInput open(TrinoInputFile file)
                throws IOException;
    }

    private TrinoInput openCached(TrinoInputFile file)
            throws IOException
    {
        ReadContext context = new ReadContext(
                "lake",
                "query",
                new SchemaTableName("s", "t"),
                IDENTITY,
                CacheDecision.CACHE,
                Optional.empty(),
                new SplitFile(file.location(), file.length(), WRITTEN.toEpochMilli(), file.length()));
        try (ReadContext.Opened _ = context.open()) {
            return cache.cacheInput(file, "key");
        }
    }

    /**
     * Reads all files, megabyte by megabyte; fails if one read does, or gets wrong bytes.
     *
     * @return what the server was asked
     */
    private List<S3Request> readAll(Opener opener)
            throws Exception
    {
        long mark = s3.log().mark();
        List<Future<?>> reads = new ArrayList<>();
        for (int file = 0; file < FILES; file++) {
            int index = file;
            reads.add(executor.submit(() -> {
                int length = length(index);
                byte[] bytes = new byte[length];
                try (TrinoInput input = opener.open(factory.create(IDENTITY).newInputFile(location(index), length, WRITTEN))) {
                    for (int position = 0; position < length; position += READ_BYTES) {
                        input.readFully(position, bytes, position, Math.min(READ_BYTES, length - position));
                    }
                }
                assertThat(Arrays.equals(bytes, 0, length, content, 0, length)).as("the bytes of file %s", index).isTrue();
                return null;
            }));
        }
        for (Future<?> read : reads) {
            read.get();
        }
        return s3.log().since(mark);
    }

    private long gauge(String name)
    {
        return worker.gauge(name);
    }

    @Test
    void testHalfOfTheRequestsRefused()
            throws Exception
    {
        S3Faults faults = S3Faults.NONE.withUnavailableShare(0.5, 7);
        s3.setFaults(faults);
        List<S3Request> plain = readAll(TrinoInputFile::newInput);
        s3.setFaults(faults);
        List<S3Request> cached = readAll(this::openCached);
        s3.setFaults(S3Faults.NONE);
        long bypassBytes = client.totals().get(CounterNames.BYPASS_BYTES);
        System.out.printf("reads of %s files under refusals: %s requests plain, %s with the cache, %s bytes past it, %s of the worker's refused, %s repeated%n",
                FILES, plain.size(), cached.size(), bypassBytes, gauge(CounterNames.ORIGIN_THROTTLED), gauge(CounterNames.ORIGIN_RETRIES));

        assertThat(plain).extracting(S3Request::status).as("the refusals").contains(503);
        assertThat(cached).hasSizeLessThanOrEqualTo(plain.size() * 12 / 10);
        assertThat(gauge(CounterNames.ORIGIN_THROTTLED)).isPositive();
        assertThat(gauge(CounterNames.ORIGIN_RETRIES)).as("each that was refused was made again, or given up").isLessThanOrEqualTo(gauge(CounterNames.ORIGIN_THROTTLED));
        long allBytes = client.totals().get(CounterNames.REQUESTED_BYTES);
        assertThat(bypassBytes).as("bytes past the cache, of %s", allBytes).isLessThan(allBytes / 4);

        // what was filled meanwhile is there
        List<S3Request> again = readAll(this::openCached);
        assertThat(again.stream().mapToLong(S3Request::bytesSent).sum()).isLessThanOrEqualTo(bypassBytes + gauge(CounterNames.EXTRA_BYTES));
    }
}
