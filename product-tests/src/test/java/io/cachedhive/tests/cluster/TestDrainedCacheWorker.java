package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three Trino workers with fewer cache workers than that: before all have one, after one of them was killed, and after one was drained.
 */
@Test(groups = "membership", singleThreaded = true)
public class TestDrainedCacheWorker
{
    // on a busy machine a hand-over takes long
    private static final Duration DEADLINE = Duration.ofMinutes(1);
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int TIMED_SCANS = 5;

    private TestingCluster testing;
    private Cluster cluster;
    private SqlConnection connection;
    private ScannedTable table;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("drained", builder -> builder
                .hosts(3)
                .startedLater("cache-worker-2", "cache-worker-3")
                // without SSD a cache worker that starts again has nothing, and still its place
                .ssdMaxSize("")
                .cachedHiveProperty("cachedhive.grace-period", "10s")
                // one of three may be gone without its chunks being left to the object store, two may not
                .cachedHiveProperty("cachedhive.min-live-share", "0.6")
                // a host without a cache worker reads past the cache, and is given no splits in this way
                .cachedHiveProperty("cachedhive.node-selection-strategy", "HARD_AFFINITY"));
        cluster = testing.cluster();
        connection = testing.connect("cachedhive", "drained");
        table = ScannedTable.create(testing, "drained");
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

    /**
     * The hosts without a cache worker read what is theirs as plain Hive does, and the one with it no longer asks for what is its.
     */
    @Test
    public void testOneOfThreeHasCacheWorker()
            throws Exception
    {
        Await.until("a ring with places for all hosts", TIMEOUT, QUERY_PAUSE, () ->
                connection.query("SELECT count(*), count(node_id) FROM cachedhive.cache.nodes WHERE ring_share > 0").rows().equals(List.of(List.of(3L, 1L))));
        DataFileGets plain = table.getsOfScan(connection, "hive");
        assertThat(plain.keys()).isEqualTo(table.keys());
        DataFileGets first = table.getsOfScan(connection, "cachedhive");
        DataFileGets second = awaitSecondRun(plain);
        System.out.printf(
                "one of three hosts has a cache worker: plain Hive %s GETs, %s bytes; first scan %s, %s; second scan %s, %s%n",
                plain.count(), plain.bytes(), first.count(), first.bytes(), second.count(), second.bytes());
        assertThat(first.count()).isLessThanOrEqualTo(plain.count());
        assertThat(first.bytes()).isLessThanOrEqualTo(plain.bytes());
        // about a third of the files has its owner
        assertThat((double) second.count()).isGreaterThan(0.4 * plain.count());
        assertThat(second.bytes()).isLessThan(plain.bytes());
        second.byKey().forEach((key, gets) -> assertThat(gets).as(key).isLessThanOrEqualTo(plain.count(Set.of(key))));

        List<Long> plainMillis = new ArrayList<>();
        List<Long> cachedMillis = new ArrayList<>();
        for (int i = 0; i < TIMED_SCANS; i++) {
            plainMillis.add(scanMillis("hive"));
            cachedMillis.add(scanMillis("cachedhive"));
        }
        Collections.sort(plainMillis);
        Collections.sort(cachedMillis);
        System.out.printf("scans in ms, in turns: plain Hive %s, with one cache worker %s%n", plainMillis, cachedMillis);
    }

    /**
     * Files are young: those of the cached third are kept once the cache worker has made sure of them.
     */
    private DataFileGets awaitSecondRun(DataFileGets plain)
            throws Exception
    {
        return Await.untilPresent("a scan with fewer GETs", TIMEOUT, QUERY_PAUSE, () ->
                Optional.of(table.getsOfScan(connection, "cachedhive")).filter(scan -> scan.count() <= 0.9 * plain.count()));
    }

    private long scanMillis(String catalog)
            throws Exception
    {
        long start = System.nanoTime();
        table.scan(connection, catalog);
        return Duration.ofNanos(System.nanoTime() - start).toMillis();
    }

    /**
     * What the next scan asks the object store for once a killed worker's chunks have new owners, and once a drained one's have.
     */
    @Test(dependsOnMethods = "testOneOfThreeHasCacheWorker")
    public void testDrain()
            throws Exception
    {
        List<ClusterNode> all = cluster.cacheWorkers();
        ClusterNode victim = all.getFirst();
        List<ClusterNode> others = all.subList(1, all.size());
        others.forEach(ClusterNode::start);
        others.forEach(ClusterNode::awaitReady);
        PublishedOwners owners = PublishedOwners.await(connection, cluster.s3(), all);
        DataFileGets cold = warm();
        Set<String> victims = table.keys().stream()
                .filter(key -> owners.owner(table.location(key)).equals(owners.id(victim)))
                .collect(Collectors.toSet());
        assertThat(victims.size()).as("files of the worker that leaves").isBetween(10, table.keys().size() - 10);

        victim.kill();
        PublishedOwners.await(connection, cluster.s3(), others);
        DataFileGets killed = table.getsOfScan(connection, "cachedhive");
        assertThat(killed.keys()).as("files asked for after the kill").containsAll(victims);

        // the same again: same places, same owners, nothing cached
        others.forEach(ClusterNode::stop);
        all.forEach(ClusterNode::start);
        all.forEach(ClusterNode::awaitReady);
        assertThat(PublishedOwners.await(connection, cluster.s3(), all).id(victim)).isEqualTo(owners.id(victim));
        warm();

        long begun = System.nanoTime();
        victim.drain(DEADLINE);
        Await.until("the drained worker has ended", DEADLINE.plusSeconds(20), QUERY_PAUSE, () -> {
            // reads go on meanwhile
            table.scan(connection, "cachedhive");
            return !victim.isAlive();
        });
        Duration lasted = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(victim.awaitEnd(TIMEOUT)).as("exit code of %s", victim.logTail(20)).isZero();
        PublishedOwners.await(connection, cluster.s3(), others);

        Map<String, Long> slowBefore = NoOriginReads.bytesOfSlowWorkers(connection);
        long mark = table.mark();
        table.scan(connection, "cachedhive");
        DataFileGets drained = table.getsSince(mark, connection, slowBefore);
        System.out.printf(
                "one of three cache workers left, of %s files (%s GETs when cold) it owned %s (share of the ring %.3f): " +
                        "killed, the next scan made %s GETs; drained within %s ms of %s, %s GETs%n",
                table.keys().size(), cold.count(), victims.size(), owners.share(owners.id(victim)),
                killed.count(), lasted.toMillis(), DEADLINE.toMillis(), drained.count());
        assertThat((double) drained.count()).isLessThanOrEqualTo(0.05 * killed.count());
    }

    /**
     * Scans until nothing is asked for any more.
     *
     * @return what the first scan asked for
     */
    private DataFileGets warm()
            throws Exception
    {
        DataFileGets first = table.getsOfScan(connection, "cachedhive");
        Await.until("a scan without GETs", TIMEOUT, QUERY_PAUSE, () -> table.getsOfScan(connection, "cachedhive").count() == 0);
        return first;
    }
}
