package io.cachedhive.tests.containers;

import io.cachedhive.quickstart.s3.S3RequestLog;
import io.cachedhive.quickstart.sql.QueryResult;
import io.cachedhive.quickstart.sql.SqlConnection;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tables in a real Hive Metastore and on S3, written and read by way of {@code cachedhive}.
 */
@Test(groups = "queries", singleThreaded = true)
public class TestQueries
{
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

            long second = log.mark();
            assertThat(cluster.rows(table.checksumQuery("cachedhive"))).isEqualTo(expected);
            assertThat(DataFiles.gets(log, second, table.prefix())).isZero();
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
