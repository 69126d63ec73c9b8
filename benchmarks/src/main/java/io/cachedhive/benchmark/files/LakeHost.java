package io.cachedhive.benchmark.files;

import io.cachedhive.benchmark.memory.MemoryDirectory;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.admin.WorkerAdmin;
import io.cachedhive.client.counters.ReadSource;
import io.cachedhive.plugin.ahead.ScanAnnouncements;
import io.cachedhive.plugin.ahead.ScanAnnouncements.SmallFile;
import io.cachedhive.plugin.client.NodeCacheClient;
import io.cachedhive.plugin.mode.CacheDecision;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.wire.FillTerms;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3ServerProcess;
import io.cachedhive.transport.ClientIdentity;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.trino.context.ReadContext;
import io.cachedhive.trino.context.SplitFile;
import io.cachedhive.trino.filesystem.CachedHiveFileSystemCache;
import io.opentelemetry.api.OpenTelemetry;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoFileSystem;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.s3.S3FileSystemConfig;
import io.trino.filesystem.s3.S3FileSystemFactory;
import io.trino.filesystem.s3.S3FileSystemStats;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.security.ConnectorIdentity;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One host: an S3 server and a cache worker, each a process of its own, and in this one what a Trino worker has of them: Trino's S3 file system,
 * and the plugin's binding between it and the cache.
 */
final class LakeHost
        implements AutoCloseable
{
    private static final String CATALOG = "lake";
    private static final String ORIGIN = "default";
    private static final SchemaTableName TABLE = new SchemaTableName("benchmark", "orders");
    private static final ConnectorIdentity IDENTITY = ConnectorIdentity.ofUser("benchmark");
    // too old to be overwritten unseen
    private static final Instant MODIFIED = Instant.parse("2026-01-31T12:00:00Z");
    private static final long CHUNK_BYTES = 512L << 20;
    private static final int WRITERS = 8;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final List<AutoCloseable> resources = new ArrayList<>();
    private final Path directory;
    private final Path memory;
    // what a file was last written at, by which the cache tells its versions apart
    private final Map<LakeFiles, Instant> modified = new HashMap<>();
    private S3ServerProcess s3;
    private ClusterNode worker;
    private NodeCacheClient client;
    private CachedHiveFileSystemCache cache;
    private WorkerAdmin coordinator;
    private WorkerAddress workerAddress;
    private S3FileSystemFactory factory;
    private FileOrigins origins;

    private LakeHost(Path directory, Path memory)
    {
        this.directory = directory;
        this.memory = memory;
    }

    static LakeHost start(int ramMegabytes)
            throws Exception
    {
        LakeHost host = new LakeHost(Files.createTempDirectory("cachedhive-benchmark"), MemoryDirectory.create());
        try {
            host.startProcesses(ramMegabytes);
            return host;
        }
        catch (Throwable e) {
            host.close();
            throw e;
        }
    }

    private void startProcesses(int ramMegabytes)
            throws Exception
    {
        s3 = S3ServerProcess.builder(directory.resolve("s3")).bucket(LakeFiles.BUCKET).start();
        resources.addFirst(s3);
        Map<String, String> properties = new HashMap<>(s3.clientProperties());
        int workerPort = FreePorts.next();
        workerAddress = new WorkerAddress(InetAddress.getLoopbackAddress().getHostAddress(), workerPort);
        CacheWorkerHome home = CacheWorkerHome.builder(Distribution.find(), Files.createDirectories(directory.resolve("worker")))
                .workerPort(workerPort)
                .httpPort(FreePorts.next())
                .ramDirectory(memory)
                .ramMaxSize(ramMegabytes + "MB")
                .heapMegabytes(1024)
                .origin(ORIGIN, properties)
                .assemble();
        worker = ClusterNode.of("worker", home);
        worker.start();
        resources.addFirst(worker::stop);
        worker.awaitReady();

        factory = new S3FileSystemFactory(
                OpenTelemetry.noop(),
                new S3FileSystemConfig()
                        .setEndpoint(properties.get("s3.endpoint"))
                        .setRegion(properties.get("s3.region"))
                        .setPathStyleAccess(true)
                        .setAwsAccessKey(properties.get("s3.aws-access-key"))
                        .setAwsSecretKey(properties.get("s3.aws-secret-key")),
                new S3FileSystemStats());
        resources.addFirst(factory::destroy);
        properties.put("fs.s3.enabled", "true");
        origins = FileOrigins.of(ORIGIN, properties, false);
        ClientIdentity identity = new ClientIdentity("benchmark", CATALOG, "benchmark", origins.origins(), Secrets.of(home.sharedSecret()));
        client = new NodeCacheClient(new CacheClientConfig(home.socketPath(), identity, CHUNK_BYTES));
        resources.addFirst(client::close);
        coordinator = WorkerAdmin.start(identity, Optional.empty(), Timeouts.DEFAULT);
        resources.addFirst(coordinator);
        cache = new CachedHiveFileSystemCache(new CatalogName(CATALOG), origins, client);
        long start = System.nanoTime();
        while (!client.get().local().connected()) {
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new IllegalStateException("no connection to the cache worker within a minute");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    void write(LakeFiles files)
            throws Exception
    {
        try (S3Client s3Client = s3.client(); ExecutorService writers = Executors.newFixedThreadPool(WRITERS)) {
            List<Future<?>> written = new ArrayList<>();
            for (int number = 0; number < files.count(); number++) {
                int file = number;
                written.add(writers.submit(() -> s3Client.putObject(
                        request -> request.bucket(LakeFiles.BUCKET).key(files.key(file)),
                        RequestBody.fromBytes(files.content(file)))));
            }
            for (Future<?> future : written) {
                future.get();
            }
        }
        setModified(files, MODIFIED);
    }

    /**
     * Makes them files that the cache has never seen, of the same bytes.
     */
    void renew(LakeFiles files)
    {
        setModified(files, modified.get(files).plusSeconds(1));
    }

    private void setModified(LakeFiles files, Instant time)
    {
        IntStream.range(0, files.count()).forEach(file -> s3.setLastModified(LakeFiles.BUCKET, files.key(file), time));
        modified.put(files, time);
    }

    void setLatency(Duration latency)
    {
        s3.setFaults(S3Faults.NONE.withLatency(latency));
    }

    interface Reader
    {
        TrinoInput open(LakeFiles files, int file)
                throws IOException;
    }

    /// as plain Hive opens the file of a split
    TrinoInput openPlain(LakeFiles files, int file)
            throws IOException
    {
        return inputFile(files, file).newInput();
    }

    /// as our page source provider and Trino's file system with our binding open the file of a split
    TrinoInput openCached(LakeFiles files, int file)
            throws IOException
    {
        TrinoInputFile input = inputFile(files, file);
        SplitFile split = new SplitFile(input.location(), files.fileBytes(), input.lastModified().toEpochMilli(), files.fileBytes());
        ReadContext context = new ReadContext(CATALOG, "20261121_000000_00001_bench", TABLE, () -> factory.create(IDENTITY), CacheDecision.CACHE, Optional.empty(), split);
        try (ReadContext.Opened _ = context.open()) {
            return cache.cacheInput(input, "unused");
        }
    }

    /// of one scan of files that the coordinator has listed
    ScanAnnouncements announcements()
    {
        return new ScanAnnouncements(
                (worker, origin, scan, table, files, terms) -> coordinator.fetchAhead(worker, origin, scan, table, files, terms, TimeUnit.NANOSECONDS.toMillis(PATIENCE_NANOS)),
                TABLE.toString());
    }

    /// as the coordinator announces the file of a split
    SmallFile announced(LakeFiles files, int file)
    {
        Location location = files.location(file);
        FileOrigin origin = origins.find(location.toString()).orElseThrow();
        return new SmallFile(
                workerAddress,
                origin.index(),
                new FileVersion(origin.id(), location.toString(), files.fileBytes(), modified.get(files).toEpochMilli()),
                FillTerms.UNSPECIFIED);
    }

    private TrinoInputFile inputFile(LakeFiles files, int file)
    {
        TrinoFileSystem fileSystem = factory.create(IDENTITY);
        return fileSystem.newInputFile(files.location(file), files.fileBytes(), modified.get(files));
    }

    /// so far, of all reads
    Map<String, Long> counters()
    {
        return client.totals();
    }

    static long bytes(Map<String, Long> counters, ReadSource source)
    {
        return counters.get(source.bytesCounter());
    }

    /// of the cache worker and this process, so far
    long cpuNanos()
    {
        long worker = ProcessHandle.of(this.worker.pid()).flatMap(process -> process.info().totalCpuDuration())
                .orElseThrow(() -> new IllegalStateException("the CPU time of the cache worker is unknown"))
                .toNanos();
        return worker + ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class).getProcessCpuTime();
    }

    long requestMark()
    {
        return s3.log().mark();
    }

    /// that the S3 server saw after the mark
    long requestCount(long mark)
    {
        return s3.log().since(mark).stream().filter(S3Request::isGet).count();
    }

    @Override
    public void close()
            throws Exception
    {
        for (AutoCloseable resource : resources) {
            resource.close();
        }
        for (Path root : List.of(directory, memory)) {
            try (Stream<Path> paths = Files.walk(root)) {
                for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
