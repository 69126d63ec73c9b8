package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Faults;
import io.cachedhive.testing.cluster.sql.ResultColumn;
import io.cachedhive.testing.cluster.sql.RowHandler;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A query that is cancelled while its reads are under way leaves nothing behind.
 */
@UsesCluster(SharedCluster.FULL)
@Test(groups = "cancels", singleThreaded = true)
public class TestCancelledQueries
{
    // a thousand take five minutes
    private static final int CANCELLED = Integer.getInteger("cachedhive.test.cancels", 250);
    // a few end before their cancel comes
    private static final int QUERIES = CANCELLED * 6 / 5;
    private static final int PARALLEL = 6;

    private static final RowHandler IGNORE_ROWS = new RowHandler()
    {
        @Override
        public void columns(List<ResultColumn> columns) {}

        @Override
        public void row(List<Object> values) {}
    };

    private final HttpClient http = HttpClient.newHttpClient();
    private TestingCluster testing;
    private Cluster cluster;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.FULL.get();
        cluster = testing.cluster();
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        http.close();
    }

    @Test
    public void testNothingIsLeft()
            throws Exception
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed of the cancels: " + seed);
        try (SqlConnection connection = testing.connect("cachedhive", "cancels")) {
            connection.query("CREATE SCHEMA cachedhive.cancels");
            // more than the RAM and the SSD of both workers, so that there is always something to fetch
            connection.query("CREATE TABLE lines WITH (format = 'TEXTFILE') AS SELECT * FROM tpch.\"sf0.1\".lineitem");
            connection.query("CREATE TABLE more WITH (format = 'TEXTFILE') AS SELECT * FROM lines UNION ALL SELECT * FROM lines UNION ALL SELECT * FROM lines");
            List<List<Object>> expected = connection.query("SELECT count(*), sum(quantity) FROM hive.cancels.more").rows();
            cluster.s3().setFaults(S3Faults.NONE.withLatency(Duration.ofMillis(30)));
            // everything that a first query makes once: threads, connections, mappings
            cancelQueries(60, new SplittableRandom(seed));
            State before = awaitRest(connection);

            int cancelled = cancelQueries(QUERIES, new SplittableRandom(seed + 1));
            assertThat(cancelled).as("queries that were cancelled before their end").isGreaterThanOrEqualTo(CANCELLED);

            State[] after = new State[1];
            try {
                Await.until("threads, descriptors and frames as before", Duration.ofMinutes(2), QUERY_PAUSE, () -> {
                    after[0] = awaitRest(connection);
                    return after[0].isNoMoreThan(before);
                });
            }
            catch (AssertionError e) {
                throw new AssertionError("before: %s%nafter: %s".formatted(before, after[0]), e);
            }
            System.out.printf("%s of %s queries cancelled%nbefore: %s%nafter:  %s%n", cancelled, QUERIES, before, after[0]);
            assertThat(after[0].accepted()).as("connections accepted since the start: no reconnects").isEqualTo(before.accepted());
            cluster.s3().setFaults(S3Faults.NONE);
            assertThat(connection.query("SELECT count(*), sum(quantity) FROM more").rows()).isEqualTo(expected);
        }
    }

    private int cancelQueries(int count, SplittableRandom random)
            throws Exception
    {
        AtomicInteger cancelled = new AtomicInteger();
        try (ExecutorService executor = Executors.newFixedThreadPool(PARALLEL);
                ScheduledExecutorService canceller = Executors.newScheduledThreadPool(2)) {
            List<Future<?>> queries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                SplittableRandom own = random.split();
                queries.add(executor.submit(() -> {
                    AtomicReference<String> queryId = new AtomicReference<>();
                    try (SqlConnection connection = testing.connect("cachedhive", "cancels")) {
                        connection.stream("SELECT count(*), sum(quantity), max(comment) FROM more", IGNORE_ROWS, stats -> {
                            // counted from when it has a name: a busy coordinator may take longer to answer than the query has left
                            if (queryId.compareAndSet(null, stats.getQueryId())) {
                                canceller.schedule(() -> cancel(stats.getQueryId()), own.nextInt(1, 600), TimeUnit.MILLISECONDS);
                            }
                        });
                    }
                    catch (SQLException e) {
                        if (!e.getMessage().contains("Query was canceled")) {
                            throw e;
                        }
                        cancelled.incrementAndGet();
                    }
                    return null;
                }));
            }
            for (Future<?> query : queries) {
                query.get();
            }
        }
        return cancelled.get();
    }

    /**
     * As the web interface does it: the driver's own cancel races with its reading of the results.
     */
    private void cancel(String queryId)
    {
        HttpRequest request = HttpRequest.newBuilder(cluster.coordinator().httpUri().resolve("/v1/query/" + queryId))
                .header("X-Trino-User", "test")
                .DELETE()
                .build();
        http.sendAsync(request, HttpResponse.BodyHandlers.discarding());
    }

    /**
     * @param threads of each Trino node that belong to the cache
     * @param descriptors of each process that are Unix sockets or files
     * @param pinned blocks that somebody holds
     * @param pending requests without an answer, at the cache workers
     * @param accepted connections that the cache workers have accepted since their start
     */
    private record State(Map<String, Integer> threads, Map<String, Integer> descriptors, long pinned, long pending, long accepted)
    {
        boolean isNoMoreThan(State before)
        {
            return pinned <= before.pinned
                    && pending <= before.pending
                    && threads.entrySet().stream().allMatch(entry -> entry.getValue() <= before.threads.get(entry.getKey()))
                    && descriptors.entrySet().stream().allMatch(entry -> entry.getValue() <= before.descriptors.get(entry.getKey()));
        }
    }

    private State awaitRest(SqlConnection connection)
            throws Exception
    {
        Counters.atRest(connection, "cachedhive");
        Map<String, Integer> threads = new HashMap<>();
        Map<String, Integer> descriptors = new HashMap<>();
        for (ClusterNode node : Stream.concat(Stream.of(cluster.coordinator()), cluster.workers().stream()).toList()) {
            try (NodeJmx jmx = testing.jmx(node)) {
                threads.put(node.name(), (int) jmx.threadNames().stream().filter(name -> name.startsWith("cachedhive")).count());
            }
            descriptors.put(node.name(), descriptors(node.pid()));
        }
        for (ClusterNode node : cluster.cacheWorkers()) {
            descriptors.put(node.name(), descriptors(node.pid()));
        }
        long pinned = testing.sumOfCacheWorkers(connection, "referenced_blocks");
        long pending = testing.sumOfCacheWorkers(connection, "active_requests");
        return new State(threads, descriptors, pinned, pending, testing.sumOfCacheWorkers(connection, "accepted_connections"));
    }

    // connections come and go by themselves, and a JVM opens files of its own when it first needs them: only shared memory and files of the store count
    private int descriptors(long pid)
    {
        String directory = cluster.directory().toAbsolutePath() + "/";
        try (Stream<Path> links = Files.list(Path.of("/proc/%s/fd".formatted(pid)))) {
            return (int) links.filter(link -> {
                try {
                    String target = Files.readSymbolicLink(link).toString();
                    return target.startsWith("/dev/shm/") ||
                            (target.startsWith(directory) && !target.contains("/log/") && !target.endsWith(".jar"));
                }
                catch (IOException _) {
                    // closed since it was listed
                    return false;
                }
            }).count();
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
