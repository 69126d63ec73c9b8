package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Queries go on, and return the right rows, whatever becomes of the cache workers.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(singleThreaded = true)
public class TestCacheWorkerFailures
{
    private static final int MEMORY_KILLS = Integer.getInteger("cachedhive.test.memory-kills", 20);
    private static final int TIMED_SCANS = 4;
    private static final String SCAN = "SELECT count(*), sum(CAST(quantity AS bigint)), sum(orderkey), to_hex(checksum(comment)) FROM %s";

    private TestingCluster testing;
    private Cluster cluster;
    private SqlConnection connection;
    private ExecutorService executor;

    @BeforeClass(alwaysRun = true)
    public void start()
            throws Exception
    {
        executor = Executors.newCachedThreadPool();
        testing = SharedCluster.TWO_HOSTS.get();
        cluster = testing.cluster();
        connection = testing.connect("cachedhive", "failures");
        connection.query("CREATE SCHEMA cachedhive.failures");
        // a file for each part: one of two workers owns none of them in one of 16 million clusters
        connection.query("CREATE TABLE warm WITH (format = 'ORC', partitioned_by = ARRAY['part']) AS " +
                "SELECT orderkey, quantity, comment, orderkey % 24 AS part FROM tpch.\"sf0.1\".lineitem");
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
    }

    @Test(groups = "failures")
    public void testOneWorkerKilledDuringScan()
            throws Exception
    {
        connection.query("CREATE TABLE cold_one WITH (format = 'ORC') AS SELECT * FROM warm");
        killDuringScan("cold_one", List.of(cluster.cacheWorkers().getFirst()));
    }

    @Test(groups = "failures", dependsOnMethods = "testOneWorkerKilledDuringScan")
    public void testAllWorkersKilledDuringScan()
            throws Exception
    {
        connection.query("CREATE TABLE cold_all WITH (format = 'PARQUET') AS SELECT * FROM warm");
        killDuringScan("cold_all", cluster.cacheWorkers());
    }

    private void killDuringScan(String table, List<ClusterNode> victims)
            throws Exception
    {
        List<List<Object>> expected = scan("hive.failures." + table);
        // the cache serves before: files that were young are kept by now, and a reader that was too slow once reads again
        Await.until("a scan of another table that does not touch the origin", DEADLINE, QUERY_PAUSE, () -> {
            Counters warm = scanCounters("warm");
            return warm.hits() == warm.requested() && warm.hits() > 0;
        });

        Future<List<List<Object>>> running;
        try (S3Hold hold = cluster.s3().hold(S3Hold.Rule.gets(Cluster.BUCKET, "warehouse/failures/" + table))) {
            running = executor.submit(() -> scan(table));
            hold.awaitHeld(1, Duration.ofSeconds(60));
            assertThat(cluster.s3().inFlight()).as("GETs of the scan under way").anyMatch(request -> request.key().orElse("").contains(table));
            victims.forEach(ClusterNode::kill);
        }
        List<List<Object>> rows = cluster.watching(Duration.ofMinutes(3), () -> running.get());
        assertThat(rows).isEqualTo(expected);

        // frames of a dead worker may be read for a second, then nothing of its comes from the cache
        boolean all = victims.size() == cluster.cacheWorkers().size();
        Await.until("a scan without the killed workers", DEADLINE, QUERY_PAUSE, () -> {
            Counters after = scanCounters("warm");
            assertThat(after.bySource()).as("bytes by source with %s workers killed: %s", victims.size(), after).isEqualTo(after.requested()).isPositive();
            return all ? after.bypass() == after.requested() : after.bypass() + after.remoteRead() > 0;
        });

        if (all) {
            Await.until("the table of queries names the cause", DEADLINE, QUERY_PAUSE, () -> {
                scan("warm");
                return (boolean) connection.query(
                        """
                        SELECT coalesce(max_by(bypass_bytes_by_cause, created), '') LIKE '%no_worker=%'
                        FROM system.cache.queries
                        WHERE tables = 'cachedhive.failures.warm' AND state = 'FINISHED'
                        """).onlyValue();
            });
        }

        for (ClusterNode victim : victims) {
            victim.start();
        }
        for (ClusterNode victim : victims) {
            victim.awaitReady();
        }
        // TestWorkerRestart shows within which time: here a busy machine may make some scans read past them
        Await.until("the restarted workers are used", DEADLINE, QUERY_PAUSE, () -> {
            Counters counters = scanCounters("warm");
            return counters.bypass() == 0 && counters.hits() > 0;
        });
        assertThat(scan(table)).isEqualTo(expected);
    }

    /**
     * A process that is stopped keeps its connections and accepts new ones, and never answers.
     */
    @Test(groups = "failures", dependsOnMethods = "testAllWorkersKilledDuringScan")
    public void testStoppedWorker()
            throws Exception
    {
        List<List<Object>> expected = scan("hive.failures.warm");
        scan("warm");
        ClusterNode victim = cluster.cacheWorkers().getFirst();
        signal("STOP", victim);
        List<Duration> plain = new ArrayList<>();
        List<Duration> beside;
        List<Duration> fromOthers;
        Counters besideStopped;
        try {
            // what is in the shared memory of the stopped worker is still read; for all else the readers' time-outs, and the breaker
            plain.addAll(timedScans("hive.failures.warm", "SOFT_AFFINITY", expected));
            beside = timedScans("warm", "SOFT_AFFINITY", expected);
            plain.addAll(timedScans("hive.failures.warm", "SOFT_AFFINITY", expected));
            // half of the splits run where their owner, the stopped one, is another host's
            Counters before = testing.jmxCounters("cachedhive");
            fromOthers = timedScans("warm", "NO_PREFERENCE", expected);
            // before and after both, so that they share what disturbs the machine
            plain.addAll(timedScans("hive.failures.warm", "SOFT_AFFINITY", expected));
            besideStopped = testing.jmxCounters("cachedhive").minus(before);
        }
        finally {
            signal("CONT", victim);
        }
        System.out.printf("scans of plain Hive %s, beside a stopped cache worker %s, on any node %s: %s%n", plain, beside, fromOthers, besideStopped);
        assertThat(besideStopped.bypass()).as("bytes read past the stopped worker: %s", besideStopped).isPositive();
        assertThat(besideStopped.bySource()).as("bytes by source: %s", besideStopped).isEqualTo(besideStopped.requested());
        // After three silent answers on each node, it gets no request but a probe each second. TestOwnerInTrouble counts the reads that wait.
        for (List<Duration> scans : List.of(beside, fromOthers)) {
            assertThat(Collections.min(scans)).as("the fastest of the scans beside the stopped worker").isLessThan(Collections.max(plain).multipliedBy(2).plusSeconds(1));
        }
        Await.until("the worker is used again", DEADLINE, QUERY_PAUSE, () -> {
            Counters counters = scanCounters("warm");
            return counters.bypass() == 0 && counters.hits() > 0;
        });
        assertThat(scan("warm")).isEqualTo(expected);
    }

    private List<Duration> timedScans(String table, String strategy, List<List<Object>> expected)
            throws Exception
    {
        List<Duration> result = new ArrayList<>();
        try (SqlConnection own = testing.connect("cachedhive", "failures")) {
            own.setSession("cachedhive.node_selection_strategy", strategy);
            for (int i = 0; i < TIMED_SCANS; i++) {
                long start = System.nanoTime();
                assertThat(own.query(SCAN.formatted(table)).rows()).isEqualTo(expected);
                result.add(Duration.ofNanos(System.nanoTime() - start));
            }
        }
        return result;
    }

    private static void signal(String name, ClusterNode node)
            throws Exception
    {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(node.pid())).inheritIO().start().waitFor()).isZero();
    }

    /**
     * With Trino JVMs that have the shared memory mapped and read nothing meanwhile.
     */
    @Test(groups = "restarts", dependsOnMethods = "testStoppedWorker")
    public void testMemoryOverKills()
            throws Exception
    {
        scan("warm");
        ClusterNode victim = cluster.cacheWorkers().getFirst();
        Path directory = testing.memoryDirectory(1);
        long budget = (long) SharedCluster.RAM_MEGABYTES << 20;
        long[] most = new long[1];
        CountDownLatch end = new CountDownLatch(1);
        Future<?> sampler = executor.submit((Callable<Void>) () -> {
            do {
                most[0] = Math.max(most[0], MappedMemory.allocatedBytes(directory, trinoPids()));
            }
            while (!end.await(20, TimeUnit.MILLISECONDS));
            return null;
        });
        for (int i = 0; i < MEMORY_KILLS; i++) {
            victim.kill();
            victim.start();
            victim.awaitReady();
        }
        end.countDown();
        sampler.get();
        System.out.printf("shared memory of one host over %s kills: at most %.3f of the budget of %s MiB%n", MEMORY_KILLS, (double) most[0] / budget, SharedCluster.RAM_MEGABYTES);
        assertThat(most[0]).isBetween(budget / 2, budget * 105 / 100);
        assertThat(scan("warm")).isEqualTo(scan("hive.failures.warm"));
    }

    private List<Long> trinoPids()
    {
        return Stream.concat(Stream.of(cluster.coordinator()), cluster.workers().stream()).map(ClusterNode::pid).toList();
    }

    private Counters scanCounters(String table)
            throws Exception
    {
        Counters before = testing.jmxCounters("cachedhive");
        scan(table);
        return testing.jmxCounters("cachedhive").minus(before);
    }

    private List<List<Object>> scan(String table)
            throws Exception
    {
        try (SqlConnection own = testing.connect("cachedhive", "failures")) {
            return own.query(SCAN.formatted(table)).rows();
        }
    }
}
