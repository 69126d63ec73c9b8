package io.cachedhive.benchmark.scans;

import io.cachedhive.protocol.file.IsolationDomain;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.home.CacheWorkerHome.SsdDirectory;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.BytesBySource;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import static com.google.common.io.MoreFiles.deleteRecursively;
import static com.google.common.io.RecursiveDeleteOption.ALLOW_INSECURE;
import static java.util.stream.Collectors.toMap;

/**
 * Three hosts with an S3 server, as processes, whose tables are files written once and linked under other names.
 * The catalog {@code alluxio} is plain Hive with the cache that Trino has built in.
 */
final class ScanCluster
        implements AutoCloseable
{
    static final int HOSTS = 3;

    private static final String TRINO_CACHES = "alluxio";
    private static final String SCHEMA = "scans";
    private static final Duration TIMEOUT = Duration.ofMinutes(3);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(200);
    // the plugin's default
    private static final long CHUNK_BYTES = 512L << 20;
    private static final Pattern SPLITS = Pattern.compile("'(splits_\\w+)' = LongCount\\{total=(\\d+)}");

    private final Cluster cluster;
    private final SqlConnection connection;
    private final CacheStatistics statistics;

    private ScanCluster(Cluster cluster, SqlConnection connection)
    {
        this.cluster = cluster;
        this.connection = connection;
        this.statistics = new CacheStatistics(connection, "cachedhive");
    }

    /**
     * @param ramMaxSize of each cache worker, and
     * @param ssdMaxSize of each, and of each of Trino's own caches
     * @param splitsPerNode that the engine queues, empty for its default
     */
    record Settings(String ramMaxSize, String ssdMaxSize, Optional<Integer> splitsPerNode) {}

    /**
     * One scan.
     *
     * @param queryId of the engine
     * @param sources where its bytes came from, if it was asked for
     * @param origin what data files were asked of the origin
     */
    record Scan(String queryId, double seconds, Optional<BytesBySource> sources, S3RequestCounts origin) {}

    static ScanCluster start(Path directory, Settings settings, Consumer<String> progress)
            throws SQLException, IOException, InterruptedException
    {
        // that of an earlier measurement would be warm
        if (Files.exists(directory.resolve(TRINO_CACHES))) {
            deleteRecursively(directory.resolve(TRINO_CACHES), ALLOW_INSECURE);
        }
        Cluster cluster = Cluster.builder(directory)
                .hosts(HOSTS)
                .ramMaxSize(settings.ramMaxSize())
                .cacheWorker((name, home) -> {
                    home.ssdDirectories(List.of(new SsdDirectory(store(directory, name).resolve("ssd"), settings.ssdMaxSize())));
                    home.config("cache.state-directory", store(directory, name).resolve("state").toString());
                })
                .trino((plan, home) -> {
                    Path cache = directory.resolve(TRINO_CACHES).resolve(plan.name());
                    createDirectories(cache);
                    Map<String, String> catalog = new HashMap<>(plan.hiveCatalog());
                    catalog.put("fs.cache.enabled", "true");
                    catalog.put("fs.cache.directories", cache.toString());
                    catalog.put("fs.cache.max-sizes", settings.ssdMaxSize());
                    home.catalog("alluxio", catalog);
                    // a file's row groups are buffered as they are written
                    home.heapMegabytes(2560);
                    // all columns of several row groups at the same time
                    home.config("query.max-memory-per-node", "1700MB");
                    settings.splitsPerNode().ifPresent(splits -> {
                        home.config("node-scheduler.max-splits-per-node", splits.toString());
                        // may not be more than that
                        home.config("node-scheduler.min-pending-splits-per-task", splits.toString());
                    });
                })
                .progress(progress)
                .start();
        try {
            ScanCluster started = new ScanCluster(
                    cluster,
                    SqlConnection.open(cluster.coordinator().httpUri(), "benchmark", Optional.of("cachedhive"), Optional.of(SCHEMA)));
            started.awaitRing(Set.of());
            return started;
        }
        catch (SQLException | InterruptedException | RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private static Path store(Path directory, String cacheWorker)
    {
        return directory.resolve("stores").resolve(cacheWorker);
    }

    private static void createDirectories(Path path)
    {
        try {
            Files.createDirectories(path);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ClusterNode worker(int host)
    {
        return cluster.workers().get(host - 1);
    }

    ClusterNode cacheWorker(int host)
    {
        return cluster.cacheWorkers().get(host - 1);
    }

    /** For the scans that follow. */
    void setSession(String name, String value)
            throws SQLException
    {
        connection.setSession(name, value);
    }

    /** Writes a table's file and links it under other names, unless the directory has the table. */
    void create(ScanTable table)
            throws SQLException, IOException
    {
        connection.query("CREATE SCHEMA IF NOT EXISTS hive." + SCHEMA);
        if (!connection.query("SHOW TABLES FROM hive.%s LIKE '%s'".formatted(SCHEMA, table.name())).rows().isEmpty()) {
            return;
        }
        String file = "hive.%s.%s_file".formatted(SCHEMA, table.name());
        // one writer, one file
        connection.setSession("scale_writers", "true");
        connection.setSession("writer_scaling_min_data_processed", "1TB");
        connection.setSession("task_min_writer_count", "1");
        connection.setSession("task_max_writer_count", "1");
        connection.setSession("hive.target_max_file_size", "1TB");
        connection.setSession("hive.compression_codec", "NONE");
        connection.setSession("hive.parquet_writer_block_size", table.rowGroup());
        connection.query("CREATE TABLE %s WITH (format = 'PARQUET') AS %s".formatted(file, table.fileQuery()));
        link(table, table, IntStream.range(0, table.files()).mapToObj(ScanCluster::fileName).toList());
    }

    /**
     * Links a table's file under such names that one cache worker owns so many of its chunks.
     *
     * @param table whose file has been written
     * @param name of the new table
     * @param chunks that are whole, of all files together; at most as many as there are
     */
    ScanTable createSkewed(ScanTable table, String name, ScanRing ring, int chunks)
            throws SQLException, IOException
    {
        CacheWorkerId owner = ring.ring().members().getFirst().id();
        long fileBytes = bytes(table) / table.files();
        List<String> names = new ArrayList<>();
        long left = chunks;
        for (int attempt = 0; names.size() < table.files(); attempt++) {
            long wanted = Math.min(left, fileBytes / CHUNK_BYTES);
            String candidate = fileName(attempt);
            long owned = ring.ownedBytes(origin(), location(name, candidate), fileBytes, CHUNK_BYTES).getOrDefault(owner, 0L) / CHUNK_BYTES;
            if (owned == wanted) {
                names.add(candidate);
                left -= owned;
            }
        }
        ScanTable skewed = new ScanTable(name, table.files(), table.fileBytes(), table.rowGroup());
        link(skewed, table, names);
        return skewed;
    }

    private void link(ScanTable table, ScanTable written, List<String> names)
            throws SQLException, IOException
    {
        String path = (String) connection.query("SELECT DISTINCT \"$path\" FROM hive.%s.%s_file".formatted(SCHEMA, written.name())).onlyValue();
        Path objects = cluster.directory().resolve("s3").resolve("objects").resolve(Cluster.BUCKET);
        Path file = objects.resolve(path.substring("s3://%s/".formatted(Cluster.BUCKET).length()));
        Path directory = objects.resolve(SCHEMA).resolve(table.name());
        Files.createDirectories(directory);
        for (String name : names) {
            Files.createLink(directory.resolve(name), file);
        }
        connection.query("CREATE TABLE hive.%s.%s (%s) WITH (format = 'PARQUET', external_location = 's3://%s/%s/%s')".formatted(
                SCHEMA,
                table.name(),
                table.declaration(),
                Cluster.BUCKET,
                SCHEMA,
                table.name()));
    }

    private static String location(String table, String file)
    {
        return "s3://%s/%s/%s/%s".formatted(Cluster.BUCKET, SCHEMA, table, file);
    }

    private OriginId origin()
    {
        Map<String, String> client = cluster.s3().clientProperties();
        return OriginId.of("s3", Optional.ofNullable(client.get("s3.endpoint")), Optional.ofNullable(client.get("s3.region")), IsolationDomain.ofS3(client));
    }

    private static String fileName(int file)
    {
        return "part-%05d.parquet".formatted(file);
    }

    /** The length of all files of a table. */
    long bytes(ScanTable table)
            throws SQLException
    {
        return ((Number) connection.query("SELECT sum(size) FROM (SELECT DISTINCT \"$path\", \"$file_size\" AS size FROM hive.%s.%s)".formatted(SCHEMA, table.name()))
                .onlyValue()).longValue();
    }

    /** Of each cache worker the memory, the SSD and the id are new, and all of them know a ring that has just them. */
    ScanRing renewCacheWorkers()
            throws SQLException, IOException, InterruptedException
    {
        Set<CacheWorkerId> before = awaitRing(Set.of()).addresses().keySet();
        for (ClusterNode worker : cluster.cacheWorkers()) {
            worker.stop();
            deleteRecursively(store(cluster.directory(), worker.name()), ALLOW_INSECURE);
            Files.createDirectories(store(cluster.directory(), worker.name()).resolve("ssd"));
            worker.start();
        }
        for (ClusterNode worker : cluster.cacheWorkers()) {
            worker.awaitReady();
        }
        return awaitRing(before);
    }

    private ScanRing awaitRing(Set<CacheWorkerId> former)
            throws SQLException, InterruptedException
    {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        Optional<ScanRing> found;
        while (true) {
            found = ScanRing.find(connection).filter(ring -> ring.addresses().size() == HOSTS && ring.addresses().keySet().stream().noneMatch(former::contains));
            if (found.isPresent()) {
                break;
            }
            cluster.checkAlive();
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("no ring of %s other cache workers than %s that all of them know within %s".formatted(HOSTS, former, TIMEOUT));
            }
            Thread.sleep(POLL_INTERVAL);
        }
        statistics.awaitHealthy(HOSTS, TIMEOUT);
        return found.get();
    }

    /** The ring that all cache workers know, empty while they do not. */
    Optional<ScanRing> ring()
            throws SQLException
    {
        return ScanRing.find(connection);
    }

    /** Whose bytes of a table are by a ring, by address. */
    Map<String, Long> ownedBytes(ScanRing ring, ScanTable table)
            throws SQLException
    {
        List<String> locations = connection.query("SELECT DISTINCT \"$path\" FROM hive.%s.%s".formatted(SCHEMA, table.name())).rows().stream()
                .map(row -> (String) row.getFirst())
                .toList();
        return ring.ownedBytes(origin(), locations, bytes(table) / table.files(), CHUNK_BYTES);
    }

    /** What of a query's input each Trino worker read. */
    Map<String, Long> readBytes(String queryId)
            throws SQLException
    {
        Map<String, Long> result = new TreeMap<>();
        connection.query("SELECT node_id, sum(physical_input_bytes) FROM system.runtime.tasks WHERE query_id = '%s' GROUP BY node_id".formatted(queryId)).rows()
                .forEach(row -> result.put((String) row.getFirst(), ((Number) row.get(1)).longValue()));
        return result;
    }

    /** Blocks of other hosts that each cache worker keeps, bytes. */
    Map<String, Long> guestBytes()
            throws SQLException
    {
        Map<String, Long> result = new TreeMap<>();
        connection.query("SELECT host, guest_bytes FROM cachedhive.cache.stats_detail").rows()
                .forEach(row -> result.put((String) row.getFirst(), ((Number) row.get(1)).longValue()));
        return result;
    }

    /** Scans, and returns how many splits went where, by the names that EXPLAIN ANALYZE VERBOSE has for them. */
    Map<String, Long> splitsOfScan(ScanTable table, List<Integer> columns)
            throws SQLException
    {
        String plan = (String) connection.query("EXPLAIN ANALYZE VERBOSE " + table.scan("cachedhive", columns)).onlyValue();
        return SPLITS.matcher(plan).results().collect(toMap(match -> match.group(1), match -> Long.parseLong(match.group(2)), Long::sum, TreeMap::new));
    }

    /** Scans, and checks that no row is missing. */
    Scan scan(ScanTable table, String catalog, List<Integer> columns)
            throws SQLException
    {
        long mark = cluster.s3().log().mark();
        QueryResult result = connection.query(table.scan(catalog, columns));
        S3RequestCounts origin = cluster.s3().log().dataFileCountsSince(mark);
        for (Object count : result.rows().getFirst()) {
            if ((long) count != table.rows()) {
                throw new IllegalStateException("%s rows of %s.%s instead of %s".formatted(count, catalog, table.name(), table.rows()));
            }
        }
        return new Scan(result.queryId().orElseThrow(), result.elapsedMillis() / 1000.0, Optional.empty(), origin);
    }

    /** The same through the cache with {@link Scan#sources}, which takes seconds more. No uncounted scan through the cache may come before it. */
    Scan countedScan(ScanTable table, List<Integer> columns)
            throws SQLException, InterruptedException
    {
        // what was scanned before was counted, or is not counted at all
        BytesBySource before = statistics.read();
        Scan scan = scan(table, "cachedhive", columns);
        BytesBySource sources = statistics.awaitStable(TIMEOUT).minus(before);
        if (sources.served() != sources.requested()) {
            throw new IllegalStateException("bytes by source are not those requested: " + sources);
        }
        return new Scan(scan.queryId(), scan.seconds(), Optional.of(sources), scan.origin());
    }

    @Override
    public void close()
            throws SQLException
    {
        try {
            connection.close();
        }
        finally {
            cluster.close();
        }
    }
}
