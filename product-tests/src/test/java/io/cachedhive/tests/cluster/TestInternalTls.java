package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two hosts whose Trino servers use Trino's automatic internal TLS, and so have names such as {@code 127-0-0-2.ip}: the cache works as without TLS.
 */
@Test(groups = "tls", singleThreaded = true)
public class TestInternalTls
{
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    // a file for each: one of two cache workers owns none of them in one of 8 million clusters
    private static final int PARTITIONS = 24;

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("tls", builder -> builder.internalTls());
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        if (testing != null) {
            testing.close();
        }
    }

    @Test
    public void testCacheWorkersAreFound()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            // without these names, this class would check nothing
            assertThat(connection.query("SELECT http_uri FROM system.runtime.nodes").rows())
                    .extracting(row -> (String) row.getFirst())
                    .hasSize(3)
                    .allMatch(uri -> uri.matches("https://127-0-0-[123]\\.ip:\\d+"));
            testing.awaitRing();
            assertThat(connection.query("SELECT host FROM cachedhive.cache.stats").rows())
                    .containsExactlyInAnyOrder(List.of("127.0.0.2"), List.of("127.0.0.3"));
            // a busy machine may make one late
            Await.until("no cache worker has a problem", TIMEOUT, QUERY_PAUSE, () ->
                    connection.query("SELECT count(problem) FROM cachedhive.cache.stats").onlyValue().equals(0L));
        }
    }

    @Test(dependsOnMethods = "testCacheWorkersAreFound")
    public void testScans()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "scans")) {
            ScannedTable table = ScannedTable.create(testing, "scans", PARTITIONS);
            table.awaitOldFiles(connection);
            DataFileGets first = table.getsOfScan(connection, "cachedhive");
            assertThat(first.keys()).as("files that the first scan fetches").isEqualTo(table.keys());

            AtomicReference<Counters> begin = new AtomicReference<>();
            AtomicReference<Counters> middle = new AtomicReference<>();
            new NoOriginReads(testing, connection).during("scans of a cached table", () -> {
                begin.set(Counters.atRest(connection, "cachedhive"));
                connection.setSession("cachedhive.node_selection_strategy", "SOFT_AFFINITY");
                table.scan(connection, "cachedhive");
                middle.set(Counters.atRest(connection, "cachedhive"));
                // how many splits run elsewhere with SOFT_AFFINITY depends on the load; with this one the engine runs none without the node that it prefers
                connection.setSession("cachedhive.node_selection_strategy", "HARD_AFFINITY");
                table.scan(connection, "cachedhive");
            });
            Counters soft = middle.get().minus(begin.get());
            Counters hard = Counters.atRest(connection, "cachedhive").minus(middle.get());
            System.out.printf("%s GETs of %s files by the first scan, none by others, which counted %s and, with HARD_AFFINITY, %s%n",
                    first.count(), table.keys().size(), soft, hard);
            for (Counters scan : List.of(soft, hard)) {
                assertThat(scan.requested()).as("requested bytes: %s", scan).isPositive();
                assertThat(scan.hits()).as("hits: %s", scan).isEqualTo(scan.requested());
            }
            assertThat(hard.nonLocalHit()).as("bytes that splits read from other hosts: %s", hard).isZero();
            for (ClusterNode worker : testing.cluster().workers()) {
                try (NodeJmx jmx = testing.jmx(worker)) {
                    assertThat(jmx.counters("cachedhive").requested()).as("bytes that splits on %s requested", worker).isPositive();
                }
            }
        }
    }

    /**
     * The coordinator reaches the owners, and each Trino worker its own cache worker, by their addresses.
     */
    @Test(dependsOnMethods = "testCacheWorkersAreFound")
    public void testPreload()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "preloaded")) {
            connection.query("CREATE SCHEMA preloaded");
            connection.query("CREATE TABLE nation WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.nation");
            OldFiles.await(connection, "preloaded.nation");
            long mark = testing.cluster().s3().log().mark();
            connection.query("CALL system.preload_table(schema_name => 'preloaded', table_name => 'nation')");
            assertThat(DataFileGets.since(testing.cluster().s3(), mark, "warehouse/preloaded/nation/").count()).as("GETs of preloading").isPositive();

            // what is preloaded is beyond what queries request, and one of the cache workers fetched it
            Await.until("a Trino worker shows what its cache worker preloaded", TIMEOUT, QUERY_PAUSE, () -> {
                long extra = 0;
                for (ClusterNode worker : testing.cluster().workers()) {
                    try (NodeJmx jmx = testing.jmx(worker)) {
                        extra += jmx.extraBytes("cachedhive");
                    }
                }
                return extra > 0;
            });
        }
    }
}
