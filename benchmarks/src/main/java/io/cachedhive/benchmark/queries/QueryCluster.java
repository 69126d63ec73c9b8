package io.cachedhive.benchmark.queries;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.TrinoNodePlan;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.metastore.MetastoreProcess;
import io.cachedhive.testing.cluster.sql.SqlConnection;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static com.google.common.io.MoreFiles.deleteDirectoryContents;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.util.Objects.requireNonNull;

/**
 * The servers that are measured: a coordinator, three hosts with a Trino worker and a cache worker each, an S3 server and a Hive Metastore. All contenders are
 * catalogs of the same Trino servers, so that what disturbs the machine disturbs all of them.
 */
final class QueryCluster
        implements AutoCloseable
{
    static final int HOSTS = 3;

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String USER = "benchmark";
    private static final String LOCAL_METASTORE = "local-metastore";
    private static final int COORDINATOR_HEAP_MEGABYTES = 1536;
    private static final int WORKER_HEAP_MEGABYTES = 1536;
    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration REST_INTERVAL = Duration.ofMillis(400);
    private static final Duration REST_TIMEOUT = Duration.ofSeconds(30);
    // of one processor: what idle servers take
    private static final double REST_SHARE = 0.15;

    private final Cluster cluster;
    private final MetastoreProcess metastore;
    private final Path directory;
    private final Path objects;
    private final HttpClient http = HttpClient.newHttpClient();

    private QueryCluster(Cluster cluster, MetastoreProcess metastore, Path directory, Path objects)
    {
        this.cluster = requireNonNull(cluster, "cluster is null");
        this.metastore = requireNonNull(metastore, "metastore is null");
        this.directory = requireNonNull(directory, "directory is null");
        this.objects = requireNonNull(objects, "objects is null");
    }

    /**
     * How much each host can cache, the same for all contenders with a cache.
     *
     * @param ram of a cache worker; the built-in cache has the page cache of the operating system
     */
    record Capacity(String ram, String ssd)
    {
        Capacity
        {
            requireNonNull(ram, "ram is null");
            requireNonNull(ssd, "ssd is null");
        }
    }

    static QueryCluster start(Path directory, Capacity capacity, Consumer<String> progress)
            throws IOException
    {
        Path objects = Files.createDirectories(directory.resolve("s3").resolve("objects").resolve(Cluster.BUCKET));
        progress.accept("starting the metastore");
        MetastoreProcess metastore = MetastoreProcess.start(Distribution.find(), directory.resolve("metastore"), FreePorts.next(), URI.create(Cluster.WAREHOUSE));
        try {
            Cluster cluster = Cluster.builder(directory)
                    .hosts(HOSTS)
                    .ramMaxSize(capacity.ram())
                    .ssdMaxSize(capacity.ssd())
                    .startTimeout(START_TIMEOUT)
                    .progress(progress)
                    .trino((plan, home) -> {
                        home.heapMegabytes(plan.coordinator() ? COORDINATOR_HEAP_MEGABYTES : WORKER_HEAP_MEGABYTES);
                        for (Contender contender : Contender.values()) {
                            for (boolean listingCache : new boolean[] {false, true}) {
                                home.catalog(contender.catalog(listingCache), catalog(contender, listingCache, plan, metastore.uri(), objects, directory, capacity));
                            }
                        }
                    })
                    .start();
            return new QueryCluster(cluster, metastore, directory, objects);
        }
        catch (RuntimeException | Error e) {
            metastore.close();
            throw e;
        }
    }

    private static Map<String, String> catalog(
            Contender contender,
            boolean listingCache,
            TrinoNodePlan plan,
            URI metastore,
            Path objects,
            Path directory,
            Capacity capacity)
    {
        Map<String, String> properties = new HashMap<>(contender == Contender.CACHEDHIVE ? plan.cachedHiveCatalog() : plan.hiveCatalog());
        properties.remove("hive.metastore.catalog.dir");
        properties.put("hive.metastore", "thrift");
        properties.put("hive.metastore.uri", metastore.toString());
        if (listingCache) {
            properties.put("hive.file-status-cache-tables", "*");
            properties.put("hive.file-status-cache-expire-time", "1h");
        }
        if (contender == Contender.BUILT_IN) {
            properties.put("fs.cache.enabled", "true");
            properties.put("fs.cache.directories", builtInCache(directory, plan.name(), listingCache).toString());
            properties.put("fs.cache.max-sizes", capacity.ssd());
        }
        if (contender == Contender.LOCAL) {
            properties.put("fs.local.enabled", "true");
            properties.put("local.location", objects.toString());
            // a Hive Metastore turns local:///path into local:/path, and Trino then finds no file of its partitions
            properties.put("hive.metastore", "file");
            properties.remove("hive.metastore.uri");
            properties.put("hive.metastore.catalog.dir", "local:///" + LOCAL_METASTORE);
        }
        return ImmutableMap.copyOf(properties);
    }

    /**
     * The directory of the objects of the bucket, which the contender {@link Contender#LOCAL} reads as its local disk.
     */
    Path objects()
    {
        return objects;
    }

    Cluster cluster()
    {
        return cluster;
    }

    SqlConnection connect()
            throws SQLException
    {
        return SqlConnection.open(cluster.coordinator().httpUri(), USER, Optional.empty(), Optional.empty());
    }

    /**
     * CPU time that processes have taken since their start.
     */
    record CpuTime(double trinoMillis, double workerMillis)
    {
        CpuTime minus(CpuTime earlier)
        {
            return new CpuTime(trinoMillis - earlier.trinoMillis, workerMillis - earlier.workerMillis);
        }
    }

    CpuTime cpuTime()
    {
        return new CpuTime(
                cpuMillis(List.of(cluster.coordinator())) + cpuMillis(cluster.workers()),
                cpuMillis(cluster.cacheWorkers()));
    }

    private static double cpuMillis(List<ClusterNode> nodes)
    {
        return nodes.stream()
                .mapToDouble(node -> ProcessHandle.of(node.pid())
                        .flatMap(process -> process.info().totalCpuDuration())
                        .orElseThrow(() -> new IllegalStateException(node.name() + " has ended"))
                        .toNanos() / 1e6)
                .sum();
    }

    /**
     * For how long Trino's threads read or waited for data files, of all splits of these queries together.
     */
    double readMillis(Collection<String> queryIds)
            throws IOException, InterruptedException
    {
        double millis = 0;
        for (String id : queryIds) {
            HttpRequest request = HttpRequest.newBuilder(cluster.coordinator().httpUri().resolve("/v1/query/%s?pruned=true".formatted(id)))
                    .header("X-Trino-User", USER)
                    .build();
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            String text = response.statusCode() == HttpURLConnection.HTTP_OK ? MAPPER.readTree(response.body()).path("queryStats").path("physicalInputReadTime").asText() : "";
            if (text.isEmpty()) {
                throw new IllegalStateException("no read time of query %s: status %s".formatted(id, response.statusCode()));
            }
            millis += io.airlift.units.Duration.valueOf(text).getValue(TimeUnit.MILLISECONDS);
        }
        return millis;
    }

    /**
     * Waits until the servers do hardly anything, as when caches have written what they have fetched. What they take until then belongs to what was before.
     */
    void awaitRest()
            throws InterruptedException
    {
        long deadline = System.nanoTime() + REST_TIMEOUT.toNanos();
        CpuTime before = cpuTime();
        while (System.nanoTime() < deadline) {
            Thread.sleep(REST_INTERVAL);
            CpuTime now = cpuTime();
            CpuTime taken = now.minus(before);
            if (taken.trinoMillis() + taken.workerMillis() < REST_SHARE * REST_INTERVAL.toMillis()) {
                return;
            }
            before = now;
        }
    }

    void change(Phase.Change change)
            throws IOException
    {
        switch (change) {
            case NONE -> {}
            case TRINO_RESTARTED -> restart(cluster.nodes().stream().filter(node -> !cluster.cacheWorkers().contains(node)).toList(), List.of());
            case ALL_RESTARTED -> restart(cluster.nodes(), List.of());
            case HOST_REPLACED -> {
                ClusterNode worker = cluster.workers().getFirst();
                ClusterNode cacheWorker = cluster.cacheWorkers().getFirst();
                List<Path> caches = new ArrayList<>(List.of(cacheWorker.home().path().resolve("ssd"), cacheWorker.home().path().resolve("state")));
                for (boolean listingCache : new boolean[] {false, true}) {
                    caches.add(builtInCache(directory, worker.name(), listingCache));
                }
                restart(List.of(worker, cacheWorker), caches);
            }
        }
    }

    /**
     * @param emptied directories that are empty when the nodes start again
     */
    private void restart(List<ClusterNode> nodes, List<Path> emptied)
            throws IOException
    {
        nodes.forEach(ClusterNode::stop);
        for (Path each : emptied) {
            if (Files.exists(each)) {
                deleteDirectoryContents(each, ALLOW_INSECURE);
            }
        }
        nodes.forEach(ClusterNode::start);
        nodes.forEach(node -> node.awaitReady(START_TIMEOUT));
        cluster.awaitWorkers(HOSTS, START_TIMEOUT);
    }

    private static Path builtInCache(Path directory, String node, boolean listingCache)
    {
        return directory.resolve("builtin").resolve(node + (listingCache ? "-listed" : ""));
    }

    @Override
    public void close()
    {
        try (metastore; http) {
            cluster.close();
        }
    }
}
