package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.testing.cluster.s3.S3Service;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.util.stream.Collectors.partitioningBy;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * One read never mixes two files or two states of one file, and a missing block is fetched once for everybody on the host.
 */
@Test(groups = "versions", singleThreaded = true)
public class TestFileVersions
{
    private static final String PREFIX = "external/";
    private static final int OVERWRITES = 6;

    private TestingCluster testing;
    private Cluster cluster;
    private S3Server otherS3;
    private Path otherObjects;
    private SqlConnection connection;
    private ExecutorService executor;

    @BeforeClass
    public void start()
            throws Exception
    {
        executor = Executors.newCachedThreadPool();
        otherObjects = Files.createDirectories(Path.of("target", "clusters").toAbsolutePath()).resolve("versions-other-" + ProcessHandle.current().pid());
        otherS3 = S3Server.builder().directory(otherObjects).bucket(Cluster.BUCKET).start();
        testing = TestingCluster.start("versions", builder -> builder
                .hosts(1)
                .workersPerHost(2)
                .trino((plan, home) -> {
                    home.catalog("cachedhive_other", other(plan.cachedHiveCatalog(), Map.of("cachedhive.origin", "other")));
                    home.catalog("hive_other", other(plan.hiveCatalog(), Map.of()));
                })
                .cacheWorker((_, home) -> home.origin("other", otherS3.clientProperties())));
        cluster = testing.cluster();
        connection = testing.connect("cachedhive", "versions");
        for (String catalog : List.of("cachedhive", "cachedhive_other")) {
            connection.query("CREATE SCHEMA %s.versions".formatted(catalog));
        }
    }

    private Map<String, String> other(Map<String, String> catalog, Map<String, String> more)
    {
        Map<String, String> properties = new HashMap<>(catalog);
        properties.putAll(otherS3.clientProperties());
        properties.putAll(more);
        return properties;
    }

    @AfterClass(alwaysRun = true)
    public void stop()
            throws Exception
    {
        if (executor != null) {
            executor.shutdownNow();
        }
        if (connection != null) {
            connection.close();
        }
        if (testing != null) {
            testing.close();
        }
        if (otherS3 != null) {
            otherS3.close();
        }
    }

    /**
     * Same bucket, key, length and modification time on two S3 servers, other bytes, one cache worker.
     */
    @Test
    public void testTwoOriginsNeverMix()
            throws Exception
    {
        FileTime time = FileTime.from(Instant.now().minusSeconds(3600).truncatedTo(ChronoUnit.SECONDS));
        put(cluster.s3(), "twins/file", "first origin\n".repeat(10_000));
        put(otherS3, "twins/file", "other origin\n".repeat(10_000));
        Files.setLastModifiedTime(object(cluster.directory().resolve("s3/objects"), "twins/file"), time);
        Files.setLastModifiedTime(object(otherObjects, "twins/file"), time);
        createTable("cachedhive", "twins");
        createTable("cachedhive_other", "twins");
        for (int round = 0; round < 5; round++) {
            assertThat(connection.query("SELECT line, count(*) FROM cachedhive.versions.twins GROUP BY line").rows()).containsExactly(List.of("first origin", 10_000L));
            assertThat(connection.query("SELECT line, count(*) FROM cachedhive_other.versions.twins GROUP BY line").rows()).containsExactly(List.of("other origin", 10_000L));
        }
        Counters first = Counters.atRest(connection, "cachedhive");
        Counters other = Counters.atRest(connection, "cachedhive_other");
        assertThat(first.hits()).as("cached reads of the first origin: %s", first).isPositive();
        assertThat(other.hits()).as("cached reads of the other origin: %s", other).isPositive();
    }

    /**
     * What a listing cannot tell apart: equal length, equal modification time.
     */
    @Test
    public void testOverwrittenWithinTheSameSecond()
            throws Exception
    {
        for (int round = 0; round < OVERWRITES; round++) {
            createTable("cachedhive", overwritten(round));
        }
        List<List<List<Object>>> seen = new ArrayList<>();
        // as many as a busy machine allows
        for (int attempt = 0; seen.size() < OVERWRITES && (attempt < 30 || seen.isEmpty()); attempt++) {
            assertThat(attempt).as("attempts to write, read and overwrite within one second").isLessThan(90);
            String table = overwritten(seen.size());
            String key = table + "/file";
            awaitNextSecond();
            put(cluster.s3(), key, "%07d before\n".formatted(attempt).repeat(1000));
            Path object = object(cluster.directory().resolve("s3/objects"), key);
            Instant second = truncateToSecond(object);
            List<List<Object>> seenBefore = lines("cachedhive", table);
            put(cluster.s3(), key, "%07d behind\n".formatted(attempt).repeat(1000));
            if (!truncateToSecond(object).equals(second)) {
                // the query took too long: any listing tells the two states apart
                continue;
            }
            List<List<Object>> seenAfter = lines("cachedhive", table);
            assertThat(seenBefore).as("the query between the two writes").containsExactly(List.of("%07d before".formatted(attempt), 1000L));
            assertThat(seenAfter).as("the query right after the overwrite").isEqualTo(lines("hive", table)).isNotEqualTo(seenBefore);
            seen.add(seenAfter);
        }
        // and still when the provisional time is over
        long written = System.nanoTime();
        Await.until("the provisional time is over", Duration.ofSeconds(30), () -> System.nanoTime() - written > Duration.ofSeconds(4).toNanos());
        for (int round = 0; round < seen.size(); round++) {
            assertThat(lines("cachedhive", overwritten(round))).isEqualTo(seen.get(round));
        }
    }

    private static String overwritten(int round)
    {
        return "overwritten_" + round;
    }

    /**
     * A file of one split is replaced while the cache worker fetches it: the rows before are of the old state, and the cache worker cannot fetch any more of them.
     */
    @Test
    public void testReplacedWhileItIsRead()
            throws Exception
    {
        String key = "replaced/file";
        int rows = 300_000;
        put(cluster.s3(), key, "before %92d\n".formatted(0).repeat(rows));
        cluster.s3().setLastModified(Cluster.BUCKET, PREFIX + key, Instant.now().minusSeconds(3600));
        createTable("cachedhive", "replaced");
        Future<List<List<Object>>> query;
        // uploaded before the GET is held, because a reader does not wait for long
        put(cluster.s3(), "next-replaced/file", "behind %92d\n".formatted(0).repeat(rows));
        try (S3Hold hold = cluster.s3().hold(S3Hold.Rule.gets(Cluster.BUCKET, PREFIX + "replaced").afterBytes(1_500_000))) {
            query = executor.submit(() -> {
                try (SqlConnection own = testing.connect("cachedhive", "versions")) {
                    return own.query("SELECT line, count(*) FROM replaced GROUP BY line").rows();
                }
            });
            Await.until("a GET", Duration.ofSeconds(60), () -> hold.heldCount() > 0 || (query.isDone() && query.get().isEmpty()));
            copy(cluster.s3(), "next-replaced/file", key);
        }
        try {
            // on a machine so slow that the reader did not wait for the cache worker
            assertThat(query.get()).containsExactly(List.of("before %92d".formatted(0), (long) rows));
        }
        catch (ExecutionException e) {
            assertThat(e).hasMessageContaining("file s3://%s/%s%s was replaced while it was read: run the query again".formatted(Cluster.BUCKET, PREFIX, key));
        }
        // and the next one has the new state
        assertThat(lines("cachedhive", "replaced")).containsExactly(List.of("behind %92d".formatted(0), (long) rows));
        assertThat(lines("hive", "replaced")).containsExactly(List.of("behind %92d".formatted(0), (long) rows));
    }

    /** As early in a second as a poll can hit. */
    private static void awaitNextSecond()
            throws Exception
    {
        long second = Instant.now().getEpochSecond();
        Await.until("the next second", Duration.ofSeconds(30), () -> Instant.now().getEpochSecond() > second);
    }

    /** S3 tells modification times in whole seconds. */
    private static Instant truncateToSecond(Path object)
            throws IOException
    {
        Instant second = Files.getLastModifiedTime(object).toInstant().truncatedTo(ChronoUnit.SECONDS);
        Files.setLastModifiedTime(object, FileTime.from(second));
        return second;
    }

    @Test
    public void testTwoProcessesOneGet()
            throws Exception
    {
        String key = "shared/file";
        put(cluster.s3(), key, "x".repeat(99).concat("\n").repeat(1000));
        Files.setLastModifiedTime(object(cluster.directory().resolve("s3/objects"), key), FileTime.from(Instant.now().minusSeconds(3600)));
        createTable("cachedhive", "shared");
        long mark = cluster.s3().log().mark();
        Map<String, Counters> before = countersByWorker();
        Map<String, Long> slowBefore = NoOriginReads.bytesOfSlowWorkers(connection);
        List<List<Object>> rows;
        try (S3Hold hold = cluster.s3().hold(S3Hold.Rule.gets(Cluster.BUCKET, PREFIX + "shared"))) {
            Future<List<List<Object>>> query = executor.submit(() -> {
                try (SqlConnection own = testing.connect("cachedhive", "versions")) {
                    // many splits of one block, so that the engine gives some to each process
                    own.setSession("cachedhive.node_selection_strategy", "NO_PREFERENCE");
                    own.setSession("cachedhive.max_split_size", "10kB");
                    return own.query("SELECT count(*), min(length(line)) FROM shared").rows();
                }
            });
            // a query that fails says why
            Await.until("a GET", Duration.ofSeconds(60), () -> cluster.s3().inFlight().stream().anyMatch(S3Request::isGet) || (query.isDone() && query.get().isEmpty()));
            hold.awaitHeld(1, Duration.ofSeconds(60));
            for (ClusterNode worker : cluster.workers()) {
                try (NodeJmx jmx = testing.jmx(worker)) {
                    Await.until("a reader of the block in " + worker.name(), Duration.ofSeconds(60), QUERY_PAUSE, () ->
                            jmx.threadsWithin("io.cachedhive.client.BlockwiseFile") > 0);
                }
            }
            hold.close();
            rows = query.get();
        }
        assertThat(rows).containsExactly(List.of(1000L, 99L));
        List<S3Request> gets = cluster.s3().log().since(mark).stream()
                .filter(S3Request::isGet)
                .filter(request -> request.key().orElse("").equals(PREFIX + key))
                .toList();
        Map<Boolean, List<S3Request>> byCacheWorkers = gets.stream().collect(partitioningBy(request -> request.application().equals(NoOriginReads.CACHE_WORKER)));
        assertThat(byCacheWorkers.get(true)).as("GETs of one block for two processes").hasSize(1);
        Counters.atRest(connection, "cachedhive");
        assertThat(S3RequestCounts.of(byCacheWorkers.get(false)).getBytes())
                .as("bytes that readers asked the object store for: %s", gets)
                .isLessThanOrEqualTo(NoOriginReads.growth(slowBefore, NoOriginReads.bytesOfSlowWorkers(connection)));
        Map<String, Counters> after = countersByWorker();
        assertThat(after).allSatisfy((worker, counters) -> assertThat(counters.minus(before.get(worker)).requested()).as("bytes read by %s", worker).isPositive());
    }

    private Map<String, Counters> countersByWorker()
            throws Exception
    {
        Map<String, Counters> counters = new HashMap<>();
        for (ClusterNode worker : cluster.workers()) {
            try (NodeJmx jmx = testing.jmx(worker)) {
                counters.put(worker.name(), jmx.counters("cachedhive"));
            }
        }
        return counters;
    }

    private List<List<Object>> lines(String catalog, String table)
            throws Exception
    {
        return connection.query("SELECT line, count(*) FROM %s.versions.%s GROUP BY line".formatted(catalog, table)).rows();
    }

    private void createTable(String catalog, String table)
            throws Exception
    {
        connection.query("CREATE TABLE %s.versions.%s (line varchar) WITH (format = 'TEXTFILE', external_location = 's3://%s/%s%s')"
                .formatted(catalog, table, Cluster.BUCKET, PREFIX, table));
    }

    private static void put(S3Service s3, String key, String content)
    {
        try (S3Client client = s3.client()) {
            client.putObject(request -> request.bucket(Cluster.BUCKET).key(PREFIX + key), RequestBody.fromString(content));
        }
    }

    private static void copy(S3Service s3, String source, String target)
    {
        try (S3Client client = s3.client()) {
            client.copyObject(request -> request
                    .sourceBucket(Cluster.BUCKET)
                    .sourceKey(PREFIX + source)
                    .destinationBucket(Cluster.BUCKET)
                    .destinationKey(PREFIX + target));
        }
    }

    private static Path object(Path objects, String key)
            throws IOException
    {
        Path object = objects.resolve(Cluster.BUCKET).resolve(PREFIX + key);
        assertThat(object).isRegularFile();
        return object;
    }
}
