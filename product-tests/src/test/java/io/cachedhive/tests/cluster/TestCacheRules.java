package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Rules on a real cluster: what they decide on the coordinator, workers and cache workers do.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "statistics", singleThreaded = true)
public class TestCacheRules
{
    private static final String CATALOG = SharedCluster.RULES;
    private static final String RULES =
            """
            {
              "rules": [
                {"name": "logs", "table": "logs", "action": "bypass"},
                {"name": "quiet", "table": "quiet", "action": "read_only"},
                {"name": "brief", "table": "brief", "ttl": "4s"}
              ]
            }
            """;

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        testing.awaitRing(CATALOG);
        SharedCluster.writeRules(RULES);
        try (SqlConnection connection = testing.connect(CATALOG, "default")) {
            connection.query("CALL system.refresh_cache_rules()");
            connection.query("CREATE SCHEMA rules");
        }
    }

    /**
     * A coordinator that a later class restarts would not start with rules that cannot be read.
     */
    @AfterClass(alwaysRun = true)
    public void removeRules()
    {
        SharedCluster.writeRules(SharedCluster.NO_RULES);
    }

    @Test
    public void testBypassedScanLeavesTheCacheAlone()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "rules")) {
            connection.query("CREATE TABLE hot WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
            connection.query("CREATE TABLE logs WITH (format = 'ORC') AS SELECT * FROM tpch.sf1.orders WHERE orderkey % 4 = 0");
            String hot = "SELECT count(*), max(comment) FROM hot";
            Await.until("hot is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, hot) == 0);
            Counters before = Counters.atRest(connection, CATALOG);
            String gauges = "SELECT sum(ssd_used_bytes) FROM cache.stats";
            List<List<Object>> used = Counters.rowsAtRest(connection, gauges);

            assertThat(testing.gets(connection, "SELECT count(*), max(comment) FROM logs")).isPositive();
            assertThat(testing.gets(connection, "SELECT count(*), max(comment) FROM logs")).as("again").isPositive();
            Counters scanned = Counters.atRest(connection, CATALOG);
            assertThat(scanned.bypass() - before.bypass()).isEqualTo(scanned.requested() - before.requested()).isPositive();
            assertThat(Counters.rowsAtRest(connection, gauges)).isEqualTo(used);
            new NoOriginReads(testing, connection, CATALOG).during("a query over what was cached before", () -> connection.query(hot));
            assertThat(Counters.rowsAtRest(connection, "SELECT max(element_at(bypass_bytes_by_cause, 'rule')) > 0 FROM cache.stats_detail"))
                    .isEqualTo(List.of(List.of(true)));
            String matched = "SELECT action, matched_scans, matched_bytes > 0 FROM system.cache.rules WHERE catalog_name = '%s' AND name = 'logs'";
            assertThat(connection.query(matched.formatted(CATALOG)).rows())
                    .containsExactly(List.of("BYPASS", 2L, true));
            assertThat((String) connection.query("EXPLAIN ANALYZE VERBOSE SELECT max(comment) FROM logs").onlyValue()).contains("splits_by_rule_logs");
        }
    }

    @Test(dependsOnMethods = "testBypassedScanLeavesTheCacheAlone")
    public void testReadOnlyScanAddsNothing()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "rules")) {
            connection.query("CREATE TABLE quiet WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
            for (int i = 0; i < 2; i++) {
                assertThat(testing.gets(connection, "SELECT count(*), max(comment) FROM quiet")).isPositive();
            }
            assertThat(connection.query("SELECT count(*) FROM cache.files WHERE schema_name = 'rules' AND table_name = 'quiet'").onlyValue()).isEqualTo(0L);
            assertThat(connection.query("SELECT action, matched_scans FROM system.cache.rules WHERE catalog_name = '%s' AND name = 'quiet'".formatted(CATALOG)).rows())
                    .containsExactly(List.of("READ_ONLY", 2L));
        }
    }

    @Test
    public void testTtl()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "rules")) {
            connection.query("CREATE TABLE brief WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.customer");
            String brief = "SELECT count(*), max(comment) FROM brief";
            Await.until("it is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, brief) == 0);
            Await.until("it has expired", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, brief) > 0);
        }
    }

    @Test(dependsOnMethods = {"testBypassedScanLeavesTheCacheAlone", "testReadOnlyScanAddsNothing", "testTtl"})
    public void testReload()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "rules")) {
            String names = "SELECT array_join(array_agg(name ORDER BY number), ',') FROM system.cache.rules WHERE catalog_name = '%s'".formatted(CATALOG);
            SharedCluster.writeRules("{\"rules\": [{\"name\": \"another\"}]}");
            Await.until("reload", TIMEOUT, QUERY_PAUSE, () -> connection.query(names).onlyValue().equals("another,default"));

            SharedCluster.writeRules("{\"rules\": [");
            assertThatThrownBy(() -> connection.query("CALL system.refresh_cache_rules()")).hasMessageContaining("is not JSON");
            assertThat((String) connection.query("SELECT DISTINCT problem FROM cache.rules").onlyValue()).contains("is not JSON", "stay in force");
            assertThat(connection.query(names).onlyValue()).isEqualTo("another,default");
        }
    }
}
