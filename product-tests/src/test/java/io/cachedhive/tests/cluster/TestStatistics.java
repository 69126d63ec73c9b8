package io.cachedhive.tests.cluster;

import io.cachedhive.quickstart.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.util.List;
import java.util.Locale;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the tables say, what the beans say, and what was requested, are the same.
 */
@Test(groups = "statistics", singleThreaded = true)
public class TestStatistics
{
    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("statistics", builder -> builder);
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        if (testing != null) {
            testing.close();
        }
    }

    @Test
    public void testBeansEqualTables()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "statistics")) {
            connection.query("CREATE SCHEMA cachedhive.statistics");
            for (String format : new String[] {"ORC", "PARQUET", "TEXTFILE", "JSON", "AVRO", "CSV"}) {
                String table = "nation_" + format.toLowerCase(Locale.ROOT);
                connection.query(
                        """
                        CREATE TABLE %s WITH (format = '%s') AS
                        SELECT CAST(name AS varchar) AS name, CAST(comment AS varchar) AS comment FROM tpch.tiny.customer
                        """.formatted(table, format));
                for (int run = 0; run < 3; run++) {
                    connection.query("SELECT count(*), count(DISTINCT name), max(comment) FROM " + table);
                }
            }
            Counters table = Counters.atRest(connection, "cachedhive");
            Counters beans = testing.jmxCounters("cachedhive");
            assertThat(beans).isEqualTo(table);
            assertThat(table.bySource()).as("bytes by source: %s", table).isEqualTo(table.requested()).isPositive();
            assertThat(table.hits()).as("hits: %s", table).isPositive();
            assertThat(table.bypass()).as("bypass: %s", table).isZero();

            assertThat(connection.query("SELECT sum(ram_hit_bytes + ssd_hit_bytes + non_local_hit_bytes) FROM system.cache.stats WHERE catalog_name = 'cachedhive'").onlyValue())
                    .isEqualTo(table.hits());
        }
    }

    @Test
    public void testPreload()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "statistics")) {
            connection.query("CREATE SCHEMA IF NOT EXISTS cachedhive.statistics");
            connection.query("CREATE TABLE preloaded WITH (format = 'ORC', partitioned_by = ARRAY['status']) AS " +
                    "SELECT orderkey, comment, orderstatus AS status FROM tpch.tiny.orders");
            long mark = testing.cluster().s3().log().mark();
            connection.query("CALL cachedhive.system.preload_partition('statistics', 'preloaded', ARRAY['status'], ARRAY['F'])");
            assertThat(testing.cluster().s3().log().dataFileCountsSince(mark).gets()).as("GETs of the preload").isPositive();
            assertThat(connection.query("SELECT state, left_bytes, failed_bytes, done_bytes > 0 FROM cachedhive.cache.preloads WHERE table_name = 'preloaded'").rows())
                    .containsExactly(List.of("FINISHED", 0L, 0L, true));
            mark = testing.cluster().s3().log().mark();
            connection.query("SELECT count(*), max(comment) FROM preloaded WHERE status = 'F'");
            assertThat(testing.cluster().s3().log().dataFileCountsSince(mark).gets()).as("GETs of the query after the preload").isZero();
        }
    }
}
