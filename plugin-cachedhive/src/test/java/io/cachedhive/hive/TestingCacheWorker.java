package io.cachedhive.hive;

import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.StatusMessage.Tables;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.store.StoreConfig;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.quota.TableUsage;
import io.cachedhive.worker.origin.ObjectSourceException;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.Origin;
import io.cachedhive.worker.server.SocketAccess;
import io.cachedhive.worker.server.TlsMode;
import io.cachedhive.worker.service.CacheWorkerService;
import io.cachedhive.worker.service.WorkerSettings;
import io.cachedhive.worker.usage.UsageCounters.Account;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static com.google.common.collect.Iterables.getOnlyElement;
import static java.util.stream.Collectors.joining;

/**
 * A cache worker in this JVM, that can be stopped and started again on the same directory, socket and port.
 */
public final class TestingCacheWorker
        implements AutoCloseable
{
    static final String SECRET = "the shared secret of all workers in a test";
    public static final Secrets SECRETS = Secrets.of(SECRET);

    private final WorkerSettings settings;
    private CacheWorkerService service;

    /**
     * @param origin properties of the origin {@code default}
     */
    public TestingCacheWorker(Path directory, Map<String, String> origin)
            throws IOException
    {
        this(directory, origin, 1 << 20);
    }

    public TestingCacheWorker(Path directory, Map<String, String> origin, int blockSizeBytes)
            throws IOException
    {
        Path origins = Files.createDirectories(directory.resolve("origins"));
        Files.writeString(origins.resolve("default.properties"), origin.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(joining("\n", "", "\n")));
        Path ssd = Files.createDirectories(directory.resolve("ssd"));
        Path ram = Files.createDirectories(directory.resolve("ram"));
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        this.settings = new WorkerSettings(
                InetAddress.getLoopbackAddress(),
                port,
                directory.resolve("worker.sock"),
                SocketAccess.OWN_USER,
                SECRETS,
                TlsMode.REQUIRED,
                Optional.empty(),
                StoreConfig.ramOnly(directory.resolve("state"))
                        .withRam(ram, 64 << 20)
                        .withBlockSize(blockSizeBytes)
                        .withSsdDirectories(List.of(new SsdDirectoryConfig(ssd, new SsdDirectoryConfig.Capacity.Bytes(128 << 20)))),
                origins,
                8 << 20,
                16,
                4,
                WorkerSettings.DEFAULT_PEER_SILENCE,
                "test");
    }

    public void start()
    {
        service = CacheWorkerService.open(settings);
        service.start();
    }

    /**
     * By a name of {@link io.cachedhive.protocol.wire.CounterNames}.
     */
    public long gauge(String name)
    {
        return service.status().gauges().get(name);
    }

    /**
     * Counts a batch, as if a client of the catalog had sent it.
     */
    void count(String catalog, Usage batch)
    {
        service.usage().add(new Account("trino", catalog), batch);
    }

    /**
     * The last request of the origin {@code default} for a file of the bucket failed.
     */
    void originFails(String bucket)
    {
        origin().health().failed(bucket, "GET s3://%s/file".formatted(bucket), new ObjectSourceException(Reason.FAILED, "500", null));
    }

    void originAnswers(String bucket)
    {
        origin().health().succeeded(bucket);
    }

    private Origin origin()
    {
        return getOnlyElement(service.origins().all());
    }

    /**
     * Returns the number of pages that the counters of a catalog's tables have.
     */
    int pagesOfTables(String catalog)
    {
        int pages = 1;
        Tables page = service.usage().page(new Account("trino", catalog), "");
        for (; page.more(); pages++) {
            page = service.usage().page(new Account("trino", catalog), page.tables().getLast().table());
        }
        return pages;
    }

    /**
     * @param table {@code schema.table}; empty if it has no quota
     */
    Optional<TableUsage> tableUsage(String table)
    {
        return service.store().quotas().usage().stream().filter(usage -> usage.table().equals(table)).findFirst();
    }

    /**
     * Returns the properties of a catalog that uses this cache worker.
     */
    public Map<String, String> catalogProperties()
    {
        return Map.of(
                "cachedhive.worker.socket-path", socketPath().toString(),
                "cachedhive.worker.port", Integer.toString(port()),
                "cachedhive.shared-secret", SECRET);
    }

    public Path socketPath()
    {
        return settings.socketPath();
    }

    public int port()
    {
        return settings.port();
    }

    @Override
    public void close()
    {
        if (service != null) {
            service.close();
            service = null;
        }
    }
}
