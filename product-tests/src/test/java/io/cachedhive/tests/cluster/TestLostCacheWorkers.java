package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three of five cache workers are killed at once, and their Trino workers run on: the two that are left serve what they served before, and not the chunks of the others.
 */
@Test(groups = "losses", singleThreaded = true)
public class TestLostCacheWorkers
{
    private static final int HOSTS = 5;
    private static final int LOST = 3;
    private static final int SCANS = 3;
    private static final double MOST = 1.5;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private TestingCluster testing;
    private Cluster cluster;
    private SqlConnection connection;
    private ScannedTable table;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("lost", builder -> builder
                .hosts(HOSTS)
                .ssdMaxSize("")
                .cacheWorker((_, home) -> home.heapMegabytes(256))
                .cachedHiveProperty("cachedhive.grace-period", "20s"));
        cluster = testing.cluster();
        connection = testing.connect("cachedhive", "lost");
        table = ScannedTable.create(testing, "lost");
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
    public void testSurvivorsServeNoMoreThanBefore()
            throws Exception
    {
        PublishedOwners owners = PublishedOwners.await(connection, cluster.s3(), cluster.cacheWorkers());
        table.awaitOldFiles(connection);
        Await.until("a scan without GETs", TIMEOUT, QUERY_PAUSE, () -> table.getsOfScan(connection, "cachedhive").count() == 0);
        Map<String, Long> before = servedByScans();

        List<ClusterNode> survivors = cluster.cacheWorkers().subList(LOST, HOSTS);
        List<Long> ringsBefore = publishedMillis(survivors);
        cluster.cacheWorkers().subList(0, LOST).forEach(ClusterNode::kill);
        Map<String, Long> inGrace = servedByScans();

        // the members stay the same, but a ring without the addresses of those that are dead is published
        Await.until("a ring that tells who is dead", TIMEOUT, QUERY_PAUSE, () -> {
            List<Long> now = publishedMillis(survivors);
            for (int i = 0; i < now.size(); i++) {
                if (now.get(i) <= ringsBefore.get(i)) {
                    return false;
                }
            }
            return true;
        });
        Map<String, Long> dead = servedByScans();

        for (ClusterNode survivor : survivors) {
            String host = survivor.address();
            System.out.printf(
                    "%s owns %.3f of the ring and served in %s scans: before %s bytes, once %s of %s cache workers are lost %.2f times that, after the grace period %.2f times%n",
                    host,
                    owners.share(owners.id(survivor)),
                    SCANS,
                    before.get(host),
                    LOST,
                    HOSTS,
                    (double) inGrace.get(host) / before.get(host),
                    (double) dead.get(host) / before.get(host));
            assertThat((double) before.get(host)).as("bytes that %s served before", host).isPositive();
            assertThat((double) inGrace.get(host)).as("bytes that %s served in the grace period", host).isLessThanOrEqualTo(MOST * before.get(host));
            assertThat((double) dead.get(host)).as("bytes that %s served after it", host).isLessThanOrEqualTo(MOST * before.get(host));
            // and it goes on serving
            assertThat(dead.get(host)).as("bytes that %s served after it", host).isPositive();
        }
    }

    /**
     * What the cache worker of each host gave to queries meanwhile, from its memory to its own host, and to others over the network; what it fetched for them as well.
     */
    private Map<String, Long> servedByScans()
            throws Exception
    {
        Map<String, Long> before = served();
        for (int scan = 0; scan < SCANS; scan++) {
            table.scan(connection, "cachedhive");
        }
        Map<String, Long> result = served();
        result.replaceAll((host, bytes) -> bytes - before.getOrDefault(host, 0L));
        return result;
    }

    private Map<String, Long> served()
            throws Exception
    {
        Counters.atRest(connection, "cachedhive");
        Map<String, Long> result = new TreeMap<>();
        long alive = cluster.cacheWorkers().stream().filter(ClusterNode::isAlive).count();
        // one that does not answer within a second has no row here, and would be taken for one that served nothing
        Await.until("all cache workers that are left answer", TIMEOUT, QUERY_PAUSE, () -> {
            result.clear();
            servedNow(result);
            return result.size() == alive;
        });
        return result;
    }

    private void servedNow(Map<String, Long> result)
            throws SQLException
    {
        connection.query(
                """
                SELECT s.host, s.ram_hit_bytes + s.ssd_hit_bytes + d.sent_bytes + d.origin_bytes
                FROM cachedhive.cache.stats s JOIN cachedhive.cache.stats_detail d ON s.node_id = d.node_id
                WHERE s.state = 'RUNNING'
                """).rows()
                .forEach(row -> result.put((String) row.getFirst(), (long) row.get(1)));
    }

    private static List<Long> publishedMillis(List<ClusterNode> cacheWorkers)
            throws Exception
    {
        List<Long> millis = new ArrayList<>();
        for (ClusterNode cacheWorker : cacheWorkers) {
            millis.add(Long.parseLong(TestingCluster.page(cacheWorker, "/v1/status").replaceFirst("(?s).*\"newest_ring_published_millis\":(\\d+).*", "$1")));
        }
        return millis;
    }
}
