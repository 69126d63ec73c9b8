package io.cachedhive.tests.cluster;

import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Hosts leave and join while queries run: their Trino worker is shut down gracefully, so that Trino itself fails no query, and their cache worker is drained.
 */
@Test(groups = "resizing", singleThreaded = true)
public class TestResizedCluster
{
    private static final Duration TIMEOUT = Duration.ofMinutes(3);
    private static final Duration DRAIN_DEADLINE = Duration.ofMinutes(1);

    private TestingCluster testing;
    private Cluster cluster;
    private SqlConnection connection;
    private ScannedTable table;

    // 1-based
    private final List<Integer> hosts = new ArrayList<>(List.of(1, 2, 3));
    private PublishedOwners owners;
    private DataFileGets cold;
    // files that each cache worker should have by now
    private final Map<CacheWorkerId, Set<String>> kept = new HashMap<>();

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("resized", builder -> builder
                .hosts(4)
                .startedLater("worker-4", "cache-worker-4")
                .cachedHiveProperty("cachedhive.grace-period", "10s")
                .trino((plan, home) -> {
                    if (!plan.coordinator()) {
                        home.accessControl("allow-all");
                        // the coordinator looks at a worker's state every 5 s, and uses what it saw 5 s later
                        home.config("shutdown.grace-period", "10s");
                    }
                }));
        cluster = testing.cluster();
        connection = testing.connect("cachedhive", "resized");
        table = ScannedTable.create(testing, "resized");
    }

    @AfterClass(alwaysRun = true)
    public void stop()
            throws Exception
    {
        if (connection != null) {
            connection.close();
        }
        if (testing != null) {
            testing.close();
        }
    }

    @Test
    public void testThreeTwoFourThree()
            throws Exception
    {
        owners = awaitOwners();
        cold = table.getsOfScan(connection, "cachedhive");
        Await.until("a scan without GETs", TIMEOUT, QUERY_PAUSE, () -> table.getsOfScan(connection, "cachedhive").count() == 0);
        keep();
        try (SqlConnection other = testing.connect("cachedhive", "resized");
                QueryLoop loop = QueryLoop.start(() -> {
                    table.scan(other, "cachedhive");
                    return null;
                })) {
            step("3 -> 2", loop, () -> leave(1), List.of());
            step("2 -> 4", loop, () -> join(1, 4), List.of(1, 4));
            step("4 -> 3", loop, () -> leave(2), List.of());
            System.out.printf("%s queries beside it, none failed%n", loop.queries());
        }
    }

    /**
     * @param joining hosts one of which may be on the ring ten seconds before the other
     */
    private void step(String what, QueryLoop loop, Step step, List<Integer> joining)
            throws Exception
    {
        PublishedOwners before = owners;
        int hostsBefore = hosts.size();
        long begun = System.nanoTime();
        Map<String, Long> slowBefore = NoOriginReads.bytesOfSlowWorkers(connection);
        long mark = table.mark();
        Map<ClusterNode, Long> takenBefore = handoverBlocksReceived();
        step.run();
        owners = awaitOwners();
        table.scan(connection, "cachedhive");
        DataFileGets gets = table.getsSince(mark, connection, slowBefore);
        loop.check();

        Set<String> moved = table.keys().stream()
                .filter(key -> !before.owner(table.location(key)).equals(owners.owner(table.location(key))))
                .collect(Collectors.toSet());
        Set<String> missing = missing(owners);
        Set<String> missingMeanwhile = new HashSet<>(missing);
        joining.forEach(later -> missingMeanwhile.addAll(missing(owners.without(cluster.node("cache-worker-" + later)))));
        // one that started anew counts from 0
        long taken = handoverBlocksReceived().entrySet().stream()
                .mapToLong(entry -> entry.getValue() - takenBefore.getOrDefault(entry.getKey(), 0L))
                .sum();
        System.out.printf(
                "%s in %s ms: %s of %s files have another owner, who has not had %s of them, which without hand-over are %s GETs; made were %s; %s blocks were taken over%n",
                what,
                Duration.ofNanos(System.nanoTime() - begun).toMillis(),
                moved.size(),
                table.keys().size(),
                missing.size(),
                cold.count(missing),
                gets.count(),
                taken);
        keep();

        loop.beside(() -> {
            AtomicReference<Counters> countersBefore = new AtomicReference<>();
            new NoOriginReads(testing, connection).during("a scan after one pass, " + what, () -> {
                countersBefore.set(testing.jmxCounters("cachedhive"));
                table.scan(connection, "cachedhive");
            });
            Counters counters = testing.jmxCounters("cachedhive").minus(countersBefore.get());
            assertThat(counters.hits()).as("hits after one pass, %s: %s", what, counters).isEqualTo(counters.requested()).isPositive();
            return null;
        });
        assertThat(missing).as("files that moved, %s", what).isNotEmpty();
        assertThat(missingMeanwhile).as("files asked for, %s", what).containsAll(gets.keys());
        assertThat(gets.count()).as("GETs, %s: %s", what, gets.byKey()).isLessThanOrEqualTo(cold.count(missingMeanwhile));
        if (hosts.size() < hostsBefore) {
            // also what was read before, and kept as a guest; who joins may have guests and asks for nothing then
            assertThat(taken + gets.keys().size()).as("blocks that the new owners got, %s", what).isGreaterThanOrEqualTo(missing.size());
        }
    }

    /**
     * Files that their owners by this ring have not had.
     */
    private Set<String> missing(PublishedOwners ring)
    {
        return table.keys().stream()
                .filter(key -> !kept.getOrDefault(ring.owner(table.location(key)), Set.of()).contains(key))
                .collect(Collectors.toSet());
    }

    private interface Step
    {
        void run()
                throws Exception;
    }

    private void leave(int host)
    {
        ClusterNode worker = cluster.node("worker-" + host);
        ClusterNode cacheWorker = cluster.node("cache-worker-" + host);
        worker.shutDownGracefully();
        hosts.remove(Integer.valueOf(host));
        cluster.awaitWorkers(hosts.size(), TIMEOUT);
        cacheWorker.drain(DRAIN_DEADLINE);
        assertThat(cacheWorker.awaitEnd(TIMEOUT)).as("exit code of %s", cacheWorker.logTail(20)).isZero();
        assertThat(worker.awaitEnd(TIMEOUT)).as("exit code of %s", worker.logTail(20)).isZero();
    }

    private void join(int... joining)
    {
        for (String kind : List.of("cache-worker-", "worker-")) {
            List<ClusterNode> nodes = IntStream.of(joining).mapToObj(host -> cluster.node(kind + host)).toList();
            nodes.forEach(ClusterNode::start);
            nodes.forEach(ClusterNode::awaitReady);
        }
        IntStream.of(joining).forEach(hosts::add);
        cluster.awaitWorkers(hosts.size(), TIMEOUT);
    }

    private PublishedOwners awaitOwners()
            throws Exception
    {
        return PublishedOwners.await(connection, cluster.s3(), hosts.stream().map(host -> cluster.node("cache-worker-" + host)).toList());
    }

    private void keep()
    {
        for (String key : table.keys()) {
            kept.computeIfAbsent(owners.owner(table.location(key)), _ -> new HashSet<>()).add(key);
        }
    }

    private Map<ClusterNode, Long> handoverBlocksReceived()
            throws Exception
    {
        Map<ClusterNode, Long> blocks = new HashMap<>();
        for (ClusterNode worker : cluster.cacheWorkers().stream().filter(ClusterNode::isAlive).toList()) {
            blocks.put(worker, Long.parseLong(TestingCluster.page(worker, "/v1/stats").replaceFirst("(?s).*\"handover_blocks_received\":(\\d+).*", "$1")));
        }
        return blocks;
    }
}
