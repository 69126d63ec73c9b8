package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.home.TrinoHome.Plugin;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three hosts in two zones, with a catalog that reads within a zone and one, {@code crossing}, that reads from owners wherever they are; and a second Trino cluster
 * beside the first one's cache workers.
 */
@Test(groups = "zones", singleThreaded = true)
public class TestZonesAndClusters
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final String CROSSING = "crossing";
    // the last host is alone in its zone
    private static final Map<String, String> ZONES = Map.of("cache-worker-1", "zone-1", "cache-worker-2", "zone-1", "cache-worker-3", "zone-2");
    private static final String LONELY_HOST = "127.0.0.4";

    private record Catalogs(Map<String, String> hive, Map<String, String> crossing) {}

    private final Map<String, Catalogs> catalogs = new ConcurrentHashMap<>();
    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("zones", builder -> builder
                .hosts(3)
                .cacheWorker((name, home) -> home.config("cache.worker.zone", ZONES.get(name)))
                .trino((plan, home) -> {
                    Map<String, String> crossing = new HashMap<>(plan.cachedHiveCatalog());
                    crossing.put("cachedhive.cross-zone-reads", "true");
                    home.catalog(CROSSING, crossing);
                    catalogs.put(plan.name(), new Catalogs(plan.hiveCatalog(), crossing));
                }));
        try (SqlConnection connection = testing.connect("cachedhive", "zones")) {
            PublishedOwners.await(connection, testing.cluster().s3(), testing.cluster().cacheWorkers());
        }
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        if (testing != null) {
            testing.close();
        }
    }

    /**
     * Whatever the host that a split runs on, its bytes come from its own zone.
     */
    @Test
    public void testNoByteCrossesZones()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "zones")) {
            ScannedTable table = ScannedTable.create(testing, "zones");
            table.awaitOldFiles(connection);
            // SOFT_AFFINITY would hardly read from other hosts at all
            connection.setSession("cachedhive.node_selection_strategy", "NO_PREFERENCE");
            long mark = table.mark();
            for (int run = 0; run < 4; run++) {
                table.scan(connection, "cachedhive");
            }
            DataFileGets gets = table.getsSince(mark);
            Map<String, HostBytes> within = hostBytes(connection, "cachedhive");
            System.out.printf("four scans without preference within zones: %s GETs of %s files, by host %s%n", gets.count(), table.keys().size(), within);
            assertThat(within.values()).extracting(HostBytes::crossZone).as("bytes that crossed zones: %s", within).containsOnly(0L);
            assertThat(within.get(LONELY_HOST).nonLocal()).as("bytes from other hosts for the one that is alone in its zone: %s", within).isZero();
            assertThat(within.get(LONELY_HOST).requested()).as("bytes that it asked for: %s", within).isPositive();
            assertThat(within.values().stream().mapToLong(HostBytes::nonLocal).sum()).as("bytes from other hosts: %s", within).isPositive();

            // the preferred node is the first of its zone
            connection.setSession("cachedhive.node_selection_strategy", "SOFT_AFFINITY");
            Await.until("a scan without GETs", TIMEOUT, QUERY_PAUSE, () -> table.getsOfScan(connection, "cachedhive").count() == 0);
            assertThat(hostBytes(connection, "cachedhive").values()).extracting(HostBytes::crossZone).containsOnly(0L);

            // else nothing would have been to be seen above
            connection.setSession("crossing.node_selection_strategy", "NO_PREFERENCE");
            table.scan(connection, CROSSING);
            table.scan(connection, CROSSING);
            Map<String, HostBytes> across = hostBytes(connection, CROSSING);
            System.out.printf("two scans without preference across zones, by host %s%n", across);
            assertThat(across.values().stream().mapToLong(HostBytes::crossZone).sum()).as("bytes that crossed zones: %s", across).isPositive();
            assertThat(across.get(LONELY_HOST).nonLocal()).as("bytes from other hosts for the one that is alone in its zone: %s", across).isPositive();
        }
    }

    /**
     * Two clusters that scan the same files at the same time fetch each of them once, and each counts what it read itself.
     */
    @Test(dependsOnMethods = "testNoByteCrossesZones")
    public void testTwoClusters()
            throws Exception
    {
        Cluster.Builder builder = Cluster.builder(TestingCluster.emptyDirectory("zones-second"))
                .s3InProcess()
                .hosts(1)
                .withoutCachedHive()
                .trino((plan, home) -> {
                    Catalogs first = catalogs.get(plan.name());
                    Map<String, String> crossing = new HashMap<>(first.crossing());
                    crossing.put("cachedhive.cluster-name", "second");
                    home.plugin(Plugin.CACHEDHIVE);
                    home.catalog("hive", first.hive());
                    // whose nodes are looked at
                    home.catalog("cachedhive", crossing);
                    home.catalog(CROSSING, crossing);
                })
                .progress(line -> System.out.printf("[zones-second] %s%n", line));
        try (Cluster second = builder.start();
                SqlConnection ofFirst = testing.connect(CROSSING, "shared");
                SqlConnection ofSecond = SqlConnection.open(second.coordinator().httpUri(), "test", Optional.of(CROSSING), Optional.of("shared"))) {
            ScannedTable table = ScannedTable.create(testing, "shared");
            table.awaitOldFiles(ofFirst);
            // one cluster runs on all of these hosts, the other on one
            PublishedOwners.await(ofSecond, testing.cluster().s3(), testing.cluster().cacheWorkers());
            Counters firstBefore = Counters.atRest(ofFirst, CROSSING);
            Counters secondBefore = Counters.atRest(ofSecond, CROSSING);

            long mark = table.mark();
            FutureTask<Void> firstScan = scan(table, ofFirst);
            FutureTask<Void> secondScan = scan(table, ofSecond);
            firstScan.get();
            secondScan.get();
            DataFileGets gets = table.getsSince(mark);
            Counters ofOne = Counters.atRest(ofFirst, CROSSING).minus(firstBefore);
            Counters ofOther = Counters.atRest(ofSecond, CROSSING).minus(secondBefore);
            long others = readsPastTheCache(ofFirst) + readsPastTheCache(ofSecond);
            System.out.printf(
                    "two clusters at the same time: %s GETs of %s files, %s of reads past the cache; the first counted %s, the second %s%n",
                    gets.count(), table.keys().size(), others, ofOne, ofOther);
            assertThat(gets.keys()).isEqualTo(table.keys());
            assertThat(gets.count()).as("GETs: %s", gets.byKey()).isLessThanOrEqualTo(table.keys().size() + others);
            assertThat(ofOne.requested()).as("bytes that each asked for").isEqualTo(ofOther.requested()).isPositive();
            for (Counters counters : List.of(ofOne, ofOther)) {
                assertThat(counters.bySource()).as("bytes by source: %s", counters).isEqualTo(counters.requested());
            }

            Await.until("a scan of the second cluster without GETs", TIMEOUT, QUERY_PAUSE, () -> table.getsOfScan(ofSecond, CROSSING).count() == 0);
            assertThat(Counters.atRest(ofFirst, CROSSING).minus(firstBefore)).as("what the first cluster counted while only the second one read").isEqualTo(ofOne);
            assertThat(Counters.atRest(ofSecond, CROSSING).minus(secondBefore).requested()).as("what the second one counted").isGreaterThan(ofOther.requested());
        }
    }

    private static FutureTask<Void> scan(ScannedTable table, SqlConnection connection)
    {
        FutureTask<Void> scan = new FutureTask<>((Callable<Void>) () -> {
            table.scan(connection, CROSSING);
            return null;
        });
        Thread.ofPlatform().daemon().name("scan").start(scan);
        return scan;
    }

    /**
     * Of those each may have been a GET of its own: the machine is busy.
     */
    private static long readsPastTheCache(SqlConnection connection)
            throws SQLException
    {
        return (long) connection.query("SELECT sum(hedges + bypass_requests) FROM crossing.cache.stats_detail").onlyValue();
    }

    /**
     * What queries on a host asked for.
     */
    private record HostBytes(long requested, long nonLocal, long crossZone) {}

    private static Map<String, HostBytes> hostBytes(SqlConnection connection, String catalog)
            throws SQLException
    {
        Counters.atRest(connection, catalog);
        Map<String, HostBytes> result = new HashMap<>();
        connection.query(
                """
                SELECT d.host, d.requested_bytes, s.non_local_hit_bytes, d.cross_zone_bytes
                FROM %1$s.cache.stats_detail d JOIN %1$s.cache.stats s ON s.node_id = d.node_id
                """.formatted(catalog)).rows()
                .forEach(row -> result.put((String) row.getFirst(), new HostBytes((long) row.get(1), (long) row.get(2), (long) row.get(3))));
        return result;
    }
}
