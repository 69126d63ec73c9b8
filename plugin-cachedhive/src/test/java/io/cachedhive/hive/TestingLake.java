package io.cachedhive.hive;

import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.plugin.client.NodeCacheClient;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.testing.Await;
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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import static io.airlift.testing.Closeables.closeAll;

/**
 * An S3 server, a cache worker, and Trino's S3 file system with the cache beside it, without an engine.
 */
public final class TestingLake
        implements AutoCloseable
{
    private static final ConnectorIdentity IDENTITY = ConnectorIdentity.ofUser("user");
    // so that nobody can have overwritten them unseen
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");

    private final S3Server s3;
    private final TestingCacheWorker worker;
    private final S3FileSystemFactory factory;
    private final NodeCacheClient client;
    private final CachedHiveFileSystemCache cache;

    TestingLake(Path directory)
            throws IOException
    {
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
                        .setAwsSecretKey(s3Properties.get("s3.aws-secret-key"))
                        // a server that refuses half of the requests refuses all of Trino's own twenty in one of a thousand runs
                        .setMaxErrorRetries(60),
                new S3FileSystemStats());
        Map<String, String> properties = new HashMap<>(s3Properties);
        properties.put("fs.s3.enabled", "true");
        FileOrigins origins = FileOrigins.of("default", properties, false);
        client = new NodeCacheClient(new CacheClientConfig(
                worker.socketPath(),
                new ClientIdentity("cluster", "lake", "node", origins.origins(), TestingCacheWorker.SECRETS),
                8 << 20,
                CacheClientConfig.Limits.DEFAULT,
                // answers of the worker come, also when the machine is busy
                new Timeouts(30_000, 60_000, Timeouts.DEFAULT.reconnectMillis(), Timeouts.DEFAULT.probeMillis())));
        cache = new CachedHiveFileSystemCache(new CatalogName("lake"), origins, client);
    }

    S3Server s3()
    {
        return s3;
    }

    TestingCacheWorker worker()
    {
        return worker;
    }

    /**
     * By a name of {@link io.cachedhive.protocol.wire.CounterNames}.
     */
    long counter(String name)
    {
        return client.totals().get(name);
    }

    void put(String name, byte[] content)
            throws IOException
    {
        factory.create(IDENTITY).newOutputFile(location(name)).createOrOverwrite(content);
        s3.setLastModified("lake", name, WRITTEN);
    }

    /**
     * The file as plain Hive has it.
     */
    TrinoInputFile file(String name, long length)
    {
        return factory.create(IDENTITY).newInputFile(location(name), length, WRITTEN);
    }

    TrinoInput openCached(TrinoInputFile file)
            throws IOException
    {
        try (ReadContext.Opened _ = context(file, file.length()).open()) {
            return cache.cacheInput(file, "key");
        }
    }

    TrinoInputStream openCachedStream(TrinoInputFile file, long splitEnd)
            throws IOException
    {
        // as a scan's later streams, not its very first
        Await.until("the cache worker is there", () -> client.get().local().connected());
        try (ReadContext.Opened _ = context(file, splitEnd).open()) {
            return cache.cacheStream(file, "key");
        }
    }

    private ReadContext context(TrinoInputFile file, long splitEnd)
            throws IOException
    {
        return new ReadContext(
                "lake",
                "query",
                new SchemaTableName("s", "t"),
                () -> factory.create(IDENTITY),
                CacheDecision.CACHE,
                Optional.empty(),
                new SplitFile(file.location(), file.length(), WRITTEN.toEpochMilli(), splitEnd));
    }

    private static Location location(String name)
    {
        return Location.of("s3://lake/" + name);
    }

    @Override
    public void close()
            throws IOException
    {
        client.close();
        factory.destroy();
        try {
            closeAll(worker, s3);
        }
        catch (IOException | RuntimeException e) {
            throw e;
        }
        catch (Exception e) {
            throw new IOException(e);
        }
    }
}
