package io.cachedhive.tests.containers;

import io.cachedhive.quickstart.s3.S3RequestLog;
import io.cachedhive.quickstart.sql.QueryResult;
import io.cachedhive.quickstart.sql.SqlConnection;
import io.cachedhive.testing.Await;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tables in a real Hive Metastore and on S3, written and read by way of {@code cachedhive}.
 */
@Test(groups = "queries", singleThreaded = true)
public class TestQueries
{
    private static final int SCANS = 3;

    @AfterSuite(alwaysRun = true)
    public void stopCluster()
    {
        SharedCluster.close();
    }

    public void testSecondScanAsksTheObjectStoreForNothing()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        S3RequestLog log = cluster.hosts().s3Log();
        try (LineItems table = LineItems.create(cluster, "scanned")) {
            List<List<Object>> expected = cluster.rows(table.checksumQuery("hive"));

            long first = log.mark();
            assertThat(cluster.rows(table.checksumQuery("cachedhive"))).isEqualTo(expected);
            assertThat(DataFiles.gets(log, first, table.prefix())).isPositive();

            // a reader that waits for a cache worker for too long asks the object store itself: not each time
            long gets = -1;
            for (int scan = 1; scan <= SCANS && gets != 0; scan++) {
                long next = log.mark();
                assertThat(cluster.rows(table.checksumQuery("cachedhive"))).isEqualTo(expected);
                gets = DataFiles.gets(log, next, table.prefix());
            }
            assertThat(gets).as("GETs of the last scan").isZero();
        }
    }

    public void testInsertedRowsAreSeen()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        try (LineItems table = LineItems.create(cluster, "grown")) {
            cluster.rows(table.checksumQuery("cachedhive"));
            cluster.rows("INSERT INTO " + table.name("cachedhive") + " SELECT * FROM " + table.name("cachedhive") + " WHERE linenumber = 1");

            List<List<Object>> expected = cluster.rows(table.checksumQuery("hive"));
            assertThat(cluster.rows(table.checksumQuery("cachedhive"))).isEqualTo(expected);
        }
    }

    public void testSystemTableShowsAllCacheWorkers()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        try (LineItems table = LineItems.create(cluster, "counted");
                SqlConnection connection = cluster.connect("system", "cache")) {
            cluster.rows(table.checksumQuery("cachedhive"));

            Await.until("all cache workers answer", Duration.ofMinutes(1), QUERY_PAUSE, () ->
                    connection.query("SELECT count_if(state = 'RUNNING') FROM system.cache.stats").onlyValue().equals(3L));
            QueryResult stats = connection.query("SELECT * FROM system.cache.stats");
            assertThat(stats.rows()).hasSize(3);
            assertThat(stats.rows()).extracting(row -> row.get(stats.columnIndex("catalog_name"))).containsOnly("cachedhive");
            assertThat(stats.rows()).extracting(row -> row.get(stats.columnIndex("state"))).containsOnly("RUNNING");
            assertThat(stats.rows()).extracting(row -> row.get(stats.columnIndex("problem"))).containsOnlyNulls();
            assertThat(stats.rows()).extracting(row -> row.get(stats.columnIndex("node_id"))).doesNotHaveDuplicates().doesNotContainNull();
            // a scan of seven files is shared by the workers
            assertThat(stats.rows()).filteredOn(row -> ((Number) row.get(stats.columnIndex("requests"))).longValue() > 0).hasSizeGreaterThan(1);
        }
    }
}
