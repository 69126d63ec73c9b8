package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.tests.monitoring.MonitoringFiles;
import io.cachedhive.tests.monitoring.PromQl;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What the tables say, what the beans say, and what was requested, are the same.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "statistics", singleThreaded = true)
public class TestStatistics
{
    private static final List<String> FORMATS = List.of("ORC", "PARQUET", "TEXTFILE", "JSON", "AVRO", "CSV");

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.statistics");
        }
    }

    @Test
    public void testBeansEqualTables()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "statistics")) {
            Counters tableBefore = Counters.atRest(connection, "cachedhive");
            Counters beansBefore = testing.jmxCounters("cachedhive");
            Map<String, Long> causesBefore = bypassBytesByCause(connection);
            for (String format : FORMATS) {
                String table = table(format);
                connection.query(
                        """
                        CREATE TABLE %s WITH (format = '%s') AS
                        SELECT CAST(name AS varchar) AS name, CAST(comment AS varchar) AS comment FROM tpch.tiny.customer
                        """.formatted(table, format));
                // of a file that is still so young that it may be overwritten unseen, all is fetched each time
                read(connection, table);
                read(connection, table);
            }
            OldFiles.await(connection, "statistics." + table(FORMATS.getLast()));
            for (String format : FORMATS) {
                read(connection, table(format));
                read(connection, table(format));
            }
            Counters sums = Counters.atRest(connection, "cachedhive");
            Counters table = sums.minus(tableBefore);
            Counters beans = testing.jmxCounters("cachedhive").minus(beansBefore);
            assertThat(beans).isEqualTo(table);
            assertThat(table.bySource()).as("bytes by source: %s", table).isEqualTo(table.requested()).isPositive();
            assertThat(table.hits()).as("hits: %s", table).isPositive();
            Map<String, Long> causes = bypassBytesByCause(connection);
            assertThat(causes.entrySet()).as("causes of bypass, but those of cache workers that were silent for too long: %s", table)
                    .allMatch(cause -> NoOriginReads.SLOW_CACHE_WORKERS.contains(cause.getKey()) || cause.getValue().equals(causesBefore.get(cause.getKey())));

            String hits = "SELECT sum(ram_hit_bytes + ssd_hit_bytes + non_local_hit_bytes) FROM system.cache.stats WHERE catalog_name = 'cachedhive'";
            assertThat(Counters.rowsAtRest(connection, hits)).containsExactly(List.of(sums.hits()));
        }
    }

    private static Map<String, Long> bypassBytesByCause(SqlConnection connection)
            throws SQLException
    {
        return connection.query(
                """
                SELECT cause, sum(bytes)
                FROM cachedhive.cache.stats_detail CROSS JOIN UNNEST(bypass_bytes_by_cause) AS causes (cause, bytes)
                GROUP BY cause
                """).rows().stream()
                .collect(toMap(row -> (String) row.get(0), row -> (Long) row.get(1)));
    }

    private static String table(String format)
    {
        return "nation_" + format.toLowerCase(Locale.ROOT);
    }

    private static void read(SqlConnection connection, String table)
            throws Exception
    {
        connection.query("SELECT count(*), count(DISTINCT name), max(comment) FROM " + table);
    }

    @Test
    public void testQueries()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "statistics")) {
            connection.query("CREATE TABLE recorded WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.customer");
            OldFiles.await(connection, "statistics.recorded");
            String recorded = "SELECT count(*) FROM system.cache.queries WHERE tables = 'cachedhive.statistics.recorded' AND user = 'test' AND state = 'FINISHED' ";
            Await.until("a query is served by the cache", Duration.ofMinutes(1), Await.QUERY_PAUSE, () -> {
                connection.query("SELECT max(comment) FROM recorded");
                return (long) connection.query(recorded + "AND hit_rate = 1 AND saved_requests > 0 AND spent_requests = 0").onlyValue() > 0;
            });
            assertThat(connection.query(recorded + "AND coalesce(hit_rate, 0) = 0 AND spent_requests > 0").onlyValue())
                    .as("the first query").isNotEqualTo(0L);
            assertThat(connection.query(
                    recorded + "AND (requested_bytes <= 0 "
                            + "OR requested_bytes <> ram_hit_bytes + ssd_hit_bytes + non_local_hit_bytes + remote_read_bytes + bypass_bytes)").onlyValue())
                    .as("queries whose sums are wrong").isEqualTo(0L);

            assertThatThrownBy(() -> connection.query("SELECT 1 / (max(custkey) * 0) FROM recorded")).hasMessageContaining("by zero");
            Await.until("the failed query is recorded", Duration.ofMinutes(1), Await.QUERY_PAUSE, () -> connection.query(
                    "SELECT error FROM system.cache.queries WHERE tables = 'cachedhive.statistics.recorded' AND state = 'FAILED'").rows()
                    .equals(List.of(List.of("DIVISION_BY_ZERO"))));
        }
    }

    @Test(dependsOnMethods = "testQueries")
    public void testSummary()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "statistics")) {
            for (String summary : List.of("cachedhive.cache.summary", "(SELECT * FROM system.cache.summary WHERE catalog_name = 'cachedhive')")) {
                AtomicReference<List<List<Object>>> rows = new AtomicReference<>();
                try {
                    Await.until("the row of " + summary, Duration.ofMinutes(1), Await.QUERY_PAUSE, () -> {
                        // reads before the first sample do not count
                        connection.query("SELECT max(comment) FROM recorded");
                        rows.set(connection.query(
                                """
                                SELECT mode, workers, expected_workers, hit_rate_24_hours BETWEEN 0 AND 1, ram_used_bytes > 0, ram_used_bytes <= ram_capacity_bytes,
                                    ssd_used_bytes <= ssd_capacity_bytes
                                FROM %s
                                """.formatted(summary)).rows());
                        return rows.get().equals(List.of(List.of("ON", 2L, 2L, true, true, true, true)));
                    });
                }
                catch (AssertionError e) {
                    throw new AssertionError("last row: " + rows.get(), e);
                }
            }
            assertThat(connection.query("SELECT count(*) FROM cachedhive.cache.events WHERE type = 'RING' AND description LIKE 'ring % of 2 cache workers%'").onlyValue())
                    .isNotEqualTo(0L);
        }
    }

    /**
     * Every metric that the dashboard and the alerts name is one of a cache worker or a Trino node that runs.
     */
    @Test
    public void testMetricsOfMonitoringExist()
            throws Exception
    {
        Cluster cluster = testing.cluster();
        // a cause of bypass has a metric after its first byte
        try (SqlConnection connection = testing.connect(SharedCluster.SHADOW, "statistics")) {
            connection.query("CREATE TABLE cachedhive.statistics.measured AS SELECT * FROM tpch.tiny.nation");
            Await.until("a cache worker counts the bypassed bytes", Duration.ofMinutes(1), Await.QUERY_PAUSE, () -> {
                connection.query("SELECT max(comment) FROM measured");
                for (ClusterNode node : cluster.cacheWorkers()) {
                    if (samples(node).stream().anyMatch(sample -> sample.matches("cachedhive_bypass_bytes_total\\{cause=\"shadow\"} [1-9]\\d*"))) {
                        return true;
                    }
                }
                return false;
            });
        }
        List<ClusterNode> trinoNodes = new ArrayList<>(cluster.workers());
        trinoNodes.add(cluster.coordinator());
        for (ClusterNode node : cluster.cacheWorkers()) {
            List<String> samples = samples(node);
            assertThat(samples).allMatch(sample -> sample.matches("(cachedhive|process|jvm)_[a-z][a-z_]*(\\{.*})? \\S+"));
            assertThat(MonitoringFiles.selectors())
                    .filteredOn(selector -> !isOfTrino(selector) && !selector.metric().equals("cachedhive_bypass_bytes_total"))
                    .isNotEmpty()
                    .allSatisfy(selector -> assertSelects(selector, samples));
        }
        for (ClusterNode node : trinoNodes) {
            List<String> samples = new ArrayList<>();
            for (String sample : samples(node)) {
                samples.add(MonitoringFiles.relabel(sample));
            }
            assertThat(MonitoringFiles.selectors()).filteredOn(TestStatistics::isOfTrino).isNotEmpty().allSatisfy(selector -> assertSelects(selector, samples));
            assertThat(samples).as("each catalog has metrics of its own").anyMatch(sample -> sample.matches("cachedhive_trino_HitRate\\{.*catalog=\"cachedhive\".*"));
        }
    }

    private static boolean isOfTrino(PromQl.Selector selector)
    {
        return selector.metric().startsWith("cachedhive_trino_");
    }

    private static void assertSelects(PromQl.Selector selector, List<String> samples)
    {
        assertThat(samples).as(selector.toString()).anyMatch(sample -> sample.split("[ {]", 2)[0].equals(selector.metric())
                && selector.labels().entrySet().stream().allMatch(label -> sample.contains("%s=\"%s\"".formatted(label.getKey(), label.getValue()))));
    }

    /**
     * No table is named.
     */
    private static List<String> samples(ClusterNode node)
            throws Exception
    {
        String page = TestingCluster.page(node, "/metrics");
        assertThat(page).endsWith("# EOF\n").doesNotContain("nation_orc");
        return page.lines().filter(line -> !line.startsWith("#")).toList();
    }

    @Test
    public void testPreload()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "statistics")) {
            connection.query("CREATE TABLE preloaded WITH (format = 'ORC', partitioned_by = ARRAY['status']) AS " +
                    "SELECT orderkey, comment, orderstatus AS status FROM tpch.tiny.orders");
            long mark = testing.cluster().s3().log().mark();
            connection.query("CALL cachedhive.system.preload_partition('statistics', 'preloaded', ARRAY['status'], ARRAY['F'])");
            assertThat(testing.cluster().s3().log().dataFileCountsSince(mark).gets()).as("GETs of the preload").isPositive();
            assertThat(connection.query("SELECT state, remaining_bytes, failed_bytes, done_bytes > 0 FROM cachedhive.cache.preloads WHERE table_name = 'preloaded'").rows())
                    .containsExactly(List.of("FINISHED", 0L, 0L, true));
            new NoOriginReads(testing, connection).during("the query after the preload", () -> connection.query("SELECT count(*), max(comment) FROM preloaded WHERE status = 'F'"));
        }
    }
}
