package io.cachedhive.engine;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.inject.util.Modules;
import io.cachedhive.engine.query.QueriesModule;
import io.trino.Session;
import io.trino.plugin.base.security.AllowAllSystemAccessControl;
import io.trino.spi.connector.CatalogSchemaTableName;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.ColumnSchema;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.security.Identity;
import io.trino.spi.security.SystemSecurityContext;
import io.trino.spi.security.ViewExpression;
import io.trino.testing.AbstractTestQueryFramework;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import javax.management.JMException;
import javax.management.ObjectName;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static com.google.common.collect.Iterables.getOnlyElement;
import static io.trino.spi.security.AccessDeniedException.denySelectColumns;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static io.trino.testing.assertions.Assert.assertEventually;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("slow")
class TestCacheSchema
        extends AbstractTestQueryFramework
{
    private static final long SINCE_MILLIS = 1_790_000_000_000L;
    private static final List<ColumnMetadata> STATS_COLUMNS = connectorColumns(CacheSchemaModule.STATS.getColumns());
    private static final List<ColumnMetadata> NODES_COLUMNS = connectorColumns(CacheSchemaModule.NODES.getColumns());
    // of another version: in another order, with a column more, one of another type and most missing
    private static final List<ColumnMetadata> OTHER_VERSION_STATS_COLUMNS = ImmutableList.of(
            new ColumnMetadata("ram_hit_bytes", BIGINT),
            new ColumnMetadata("ssd_wear", DOUBLE),
            new ColumnMetadata("requests", DOUBLE),
            new ColumnMetadata("host", VARCHAR),
            new ColumnMetadata("node_id", VARCHAR));

    private final TestingSystemTable firstStats = new TestingSystemTable("stats", STATS_COLUMNS, rows(
            statsRow("w1", "host1", 0.75, 10, 100),
            statsRow("w2", "host2", null, 0, 0)));
    private final TestingSystemTable secondStats = new TestingSystemTable("stats", STATS_COLUMNS, rows(
            statsRow("w1", "host1", 0.5, 20, 200)));
    private final TestingSystemTable otherVersionStats = new TestingSystemTable("stats", OTHER_VERSION_STATS_COLUMNS, rows(
            new Object[] {7L, 0.1, 3.0, "host9", "w9"}));
    private final TestingSystemTable failingStats = new TestingSystemTable("stats", STATS_COLUMNS, () -> {
        throw new IllegalStateException("no ring");
    });
    private final TestingSystemTable strangerStats = new TestingSystemTable("stats", STATS_COLUMNS, rows(
            statsRow("stranger", "stranger", 1.0, 1, 1)));
    private final TestingSystemTable nodes = new TestingSystemTable("nodes", NODES_COLUMNS, rows(
            new Object[] {"w1", "10.0.0.1:8484", "1", "9f", 1000L, 0.5, "a", 12.5, 4L, "ACTIVE"}));

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        DistributedQueryRunner queryRunner = DistributedQueryRunner.builder(testSessionBuilder().build())
                .setWorkerCount(1)
                .setAdditionalModule(Modules.combine(new CacheSchemaModule(), new QueriesModule()))
                .setSystemAccessControl(new TestingSystemAccessControl())
                .build();
        queryRunner.installPlugin(new TestingConnectorPlugin("cachedhive", ImmutableMap.<String, Set<SystemTable>>builder()
                .put("first", ImmutableSet.of(firstStats, nodes))
                .put("other_version", ImmutableSet.of(otherVersionStats))
                .put("failing", ImmutableSet.of(failingStats))
                .put("without_tables", ImmutableSet.of())
                .buildOrThrow()));
        queryRunner.installPlugin(new TestingConnectorPlugin("cachediceberg", ImmutableMap.of("second", ImmutableSet.of(secondStats))));
        queryRunner.installPlugin(new TestingConnectorPlugin("hive", ImmutableMap.of("stranger", ImmutableSet.of(strangerStats))));
        queryRunner.createCatalog("second", "cachediceberg", Map.of());
        queryRunner.createCatalog("first", "cachedhive", Map.of());
        queryRunner.createCatalog("stranger", "hive", Map.of());
        return queryRunner;
    }

    @Test
    void testColumns()
    {
        assertThat(query("SHOW TABLES FROM system.cache"))
                .skippingTypesCheck()
                .matches("VALUES 'events', 'files', 'nodes', 'partitions', 'pins', 'preloads', 'queries', 'rules', 'sizing', 'stats', 'summary', 'tables'");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'stats'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('node_id', 'varchar'), ('host', 'varchar'), ('state', 'varchar'), ('problem', 'varchar'),
                    ('since', 'timestamp(3) with time zone'), ('hit_rate', 'double'), ('requests', 'bigint'),
                    ('ram_hit_bytes', 'bigint'), ('ssd_hit_bytes', 'bigint'), ('non_local_hit_bytes', 'bigint'), ('remote_read_bytes', 'bigint'),
                    ('bypass_bytes', 'bigint'), ('ram_used_bytes', 'bigint'), ('ssd_used_bytes', 'bigint')""");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'nodes'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('node_id', 'varchar'), ('address', 'varchar'), ('version', 'varchar'), ('epoch', 'varchar'),
                    ('weight', 'bigint'), ('ring_share', 'double'), ('zone', 'varchar'), ('uptime_seconds', 'double'),
                    ('restored_blocks', 'bigint'), ('state', 'varchar')""");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'files'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('file_path', 'varchar'), ('file_size', 'bigint'), ('file_modified_time', 'timestamp(3) with time zone'),
                    ('schema_name', 'varchar'), ('table_name', 'varchar'), ('cached_bytes', 'bigint'), ('ram_bytes', 'bigint'), ('ssd_bytes', 'bigint'),
                    ('class', 'varchar'), ('expiry', 'timestamp(3) with time zone')""");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'tables'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('schema_name', 'varchar'), ('table_name', 'varchar'), ('files', 'bigint'),
                    ('cached_bytes', 'bigint'), ('hit_rate', 'double'), ('requests', 'bigint'), ('ram_hit_bytes', 'bigint'), ('ssd_hit_bytes', 'bigint'),
                    ('non_local_hit_bytes', 'bigint'), ('remote_read_bytes', 'bigint'), ('bypass_bytes', 'bigint'), ('saved_requests', 'bigint'),
                    ('saved_bytes', 'bigint'), ('saved_cost', 'double'), ('spent_requests', 'bigint'), ('spent_cost', 'double')""");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'rules'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('number', 'bigint'), ('name', 'varchar'), ('conditions', 'varchar'), ('action', 'varchar'),
                    ('class', 'varchar'), ('ttl_seconds', 'double'), ('quota_bytes', 'bigint'), ('matched_scans', 'bigint'), ('matched_splits', 'bigint'),
                    ('matched_bytes', 'bigint'), ('last_matched', 'timestamp(3) with time zone'), ('loaded', 'timestamp(3) with time zone'),
                    ('problem', 'varchar')""");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'sizing'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('capacity_multiple', 'double'), ('capacity_bytes', 'bigint'), ('predicted_hit_rate', 'double'),
                    ('verdict', 'varchar'), ('requested_bytes', 'bigint'), ('distinct_bytes', 'bigint'), ('nodes', 'bigint')""");
        assertQuery(
                "SELECT column_name, data_type FROM system.information_schema.columns WHERE table_schema = 'cache' AND table_name = 'preloads'",
                """
                VALUES
                    ('catalog_name', 'varchar'), ('job', 'varchar'), ('schedule', 'varchar'), ('schema_name', 'varchar'), ('table_name', 'varchar'), ('partition', 'varchar'),
                    ('columns', 'varchar'), ('state', 'varchar'), ('done_bytes', 'bigint'), ('remaining_bytes', 'bigint'), ('failed_bytes', 'bigint'),
                    ('fetched_bytes', 'bigint'), ('started', 'timestamp(3) with time zone'), ('ended', 'timestamp(3) with time zone'),
                    ('problem', 'varchar')""");
    }

    @Test
    void testCatalogsAreShownOneAfterTheOther()
    {
        assertThat(query("SELECT catalog_name, node_id, host, hit_rate, requests, ram_hit_bytes FROM system.cache.stats"))
                .skippingTypesCheck()
                .matches(
                        """
                        VALUES
                            ('first', 'w1', 'host1', 0.75e0, BIGINT '10', BIGINT '100'),
                            ('first', 'w2', 'host2', NULL, 0, 0),
                            ('second', 'w1', 'host1', 0.5e0, 20, 200)""");
        assertThat(query("SELECT count(*), sum(ram_hit_bytes) FROM system.cache.stats")).matches("VALUES (BIGINT '3', BIGINT '300')");
    }

    @Test
    void testAllColumns()
    {
        assertThat(query("SELECT * FROM system.cache.stats WHERE catalog_name = 'second'"))
                .skippingTypesCheck()
                .matches(
                        """
                        VALUES (
                            'second', 'w1', 'host1', 'ACTIVE', NULL, from_unixtime(%s, 'UTC'), 0.5e0, BIGINT '20', BIGINT '200',
                            BIGINT '1', BIGINT '2', BIGINT '3', BIGINT '4', BIGINT '5', BIGINT '6')""".formatted(SINCE_MILLIS / 1000));
        assertThat(query("SELECT * FROM system.cache.nodes WHERE catalog_name = 'first'"))
                .skippingTypesCheck()
                .matches("VALUES ('first', 'w1', '10.0.0.1:8484', '1', '9f', BIGINT '1000', 0.5e0, 'a', 12.5e0, BIGINT '4', 'ACTIVE')");
    }

    @Test
    void testOnlyTheCatalogsAskedForAreRead()
    {
        int reads = firstStats.reads();
        assertQuery("SELECT ram_hit_bytes FROM system.cache.stats WHERE catalog_name = 'second'", "VALUES 200");
        assertThat(firstStats.reads()).isEqualTo(reads);
    }

    @Test
    void testDeniedCatalogHasNoRows()
    {
        // may read system.cache.stats and not second.cache.stats
        Session user = session("not_second");
        assertQueryFails(user, "SELECT * FROM second.cache.stats", "Access Denied: .*");
        assertQuery(user, "SELECT DISTINCT catalog_name FROM system.cache.stats", "VALUES 'first'");
        assertQuery(user, "SELECT count(*) FROM system.cache.stats WHERE catalog_name = 'second'", "VALUES 0");

        // does not see the catalog at all
        assertQuery(session("blind_to_second"), "SELECT DISTINCT catalog_name FROM system.cache.stats", "VALUES 'first'");
    }

    @Test
    void testDeniedColumnHidesTheCatalogOnlyWhereItIsSelected()
    {
        Session user = session("no_hosts_of_second");
        assertQuery(user, "SELECT DISTINCT catalog_name FROM system.cache.stats WHERE ram_hit_bytes > 0", "VALUES 'first', 'second'");
        assertQuery(user, "SELECT DISTINCT catalog_name FROM system.cache.stats WHERE host = 'host1'", "VALUES 'first'");
    }

    @Test
    void testCatalogWithRowFilterOrColumnMaskHasNoRows()
    {
        assertQuery(session("filtered"), "SELECT DISTINCT catalog_name FROM system.cache.stats", "VALUES 'first'");
        assertQuery(session("masked"), "SELECT DISTINCT catalog_name FROM system.cache.stats", "VALUES 'first'");
    }

    @Test
    void testTableOfAnotherVersion()
    {
        withCatalog("other_version", () -> assertQuery(
                "SELECT node_id, host, state, hit_rate, requests, ram_hit_bytes, ssd_hit_bytes FROM system.cache.stats WHERE catalog_name = 'other_version'",
                "VALUES ('w9', 'host9', NULL, NULL, NULL, 7, NULL)"));
    }

    @Test
    void testCatalogThatFailsHidesNoOther()
    {
        withCatalog("failing", () -> assertQuery(
                "SELECT DISTINCT catalog_name, state, problem FROM system.cache.stats WHERE catalog_name IN ('failing', 'first')",
                """
                VALUES
                    ('failing', 'UNREACHABLE', 'Catalog failing could not be asked (java.lang.IllegalStateException: no ring): see the log of the coordinator.'),
                    ('first', 'ACTIVE', NULL)"""));
    }

    @Test
    void testCatalogWithoutTheTable()
    {
        withCatalog("without_tables", () -> {
            assertQuery(
                    "SELECT node_id, state, problem FROM system.cache.stats WHERE catalog_name = 'without_tables'",
                    "VALUES (NULL, 'UNREACHABLE', 'Catalog without_tables has no table cache.stats: install the plugin and the server extension of one version.')");
            assertQuery("SELECT node_id, state FROM system.cache.nodes WHERE catalog_name = 'without_tables'", "VALUES (NULL, 'UNREACHABLE')");
        });
    }

    @Test
    void testDroppedCatalogIsGone()
    {
        withCatalog("other_version", () -> assertQuery("SELECT count(*) FROM system.cache.stats WHERE catalog_name = 'other_version'", "VALUES 1"));
        assertQuery("SELECT count(*) FROM system.cache.stats WHERE catalog_name = 'other_version'", "VALUES 0");
    }

    @Test
    void testOtherConnectorsAreNotAsked()
    {
        assertQuery("SELECT host FROM stranger.cache.stats", "VALUES 'stranger'");
        assertQuery("SELECT count(*) FROM system.cache.stats WHERE catalog_name = 'stranger'", "VALUES 0");
    }

    /**
     * The connector reports the id of a query when it plans a scan. Here the test does.
     */
    @Test
    void testQueries()
            throws Exception
    {
        String failed = queryIdOf(session("alice"), "SELECT 1 / (count(*) - 2) FROM first.cache.stats");
        String finished = queryIdOf(session("bob"), "SELECT count(*) FROM first.cache.stats");
        for (String queryId : List.of(failed, finished, finished, "20261127_000000_00000_aaaaa")) {
            ManagementFactory.getPlatformMBeanServer().invoke(recorder(), "scanStarted", new Object[] {queryId}, new String[] {String.class.getName()});
        }
        assertEventually(() -> assertQuery(
                "SELECT user, state, error, requested_bytes, hit_rate, bypass_bytes_by_cause FROM system.cache.queries",
                "VALUES ('alice', 'FAILED', 'DIVISION_BY_ZERO', 0, NULL, NULL), ('bob', 'FINISHED', NULL, 0, NULL, NULL)"));
        assertQuery(session("bob"), "SELECT query_id FROM system.cache.queries", "VALUES '%s'".formatted(finished));
    }

    private String queryIdOf(Session session, String sql)
    {
        try {
            getQueryRunner().execute(session, sql);
        }
        catch (RuntimeException e) {
            // it shall fail
            assertThat(e).hasMessageContaining("by zero");
        }
        return getDistributedQueryRunner().getCoordinator().getQueryManager().getQueries().stream()
                .filter(query -> query.getQuery().equals(sql))
                .map(query -> query.getQueryId().toString())
                .findFirst()
                .orElseThrow();
    }

    private static ObjectName recorder()
            throws JMException
    {
        return getOnlyElement(ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("cachedhive:name=queries,*"), null));
    }

    private void withCatalog(String name, Runnable test)
    {
        assertUpdate("CREATE CATALOG %s USING cachedhive".formatted(name));
        try {
            test.run();
        }
        finally {
            assertUpdate("DROP CATALOG " + name);
        }
    }

    private Session session(String user)
    {
        return Session.builder(getSession())
                .setIdentity(Identity.ofUser(user))
                .build();
    }

    private static List<ColumnMetadata> connectorColumns(List<ColumnMetadata> columns)
    {
        return columns.subList(1, columns.size());
    }

    private static Object[] statsRow(String nodeId, String host, Double hitRate, long requests, long ramHitBytes)
    {
        return new Object[] {
                nodeId, host, "ACTIVE", null, packDateTimeWithZone(SINCE_MILLIS, UTC_KEY), hitRate, requests, ramHitBytes, 1L, 2L, 3L, 4L, 5L, 6L};
    }

    private static Supplier<List<Object[]>> rows(Object[]... rows)
    {
        return () -> Arrays.asList(rows);
    }

    /** Forbids users, by what their names say, parts of the table {@code second.cache.stats}. */
    private static class TestingSystemAccessControl
            extends AllowAllSystemAccessControl
    {
        @Override
        public Set<String> filterCatalogs(SystemSecurityContext context, Set<String> catalogs)
        {
            if (!context.getIdentity().getUser().equals("blind_to_second")) {
                return catalogs;
            }
            return catalogs.stream()
                    .filter(catalog -> !catalog.equals("second"))
                    .collect(toImmutableSet());
        }

        @Override
        public void checkCanSelectFromColumns(SystemSecurityContext context, CatalogSchemaTableName table, Optional<String> branch, Set<String> columns)
        {
            if (!table.getCatalogName().equals("second")) {
                return;
            }
            String user = context.getIdentity().getUser();
            if (user.equals("not_second") || (user.equals("no_hosts_of_second") && columns.contains("host"))) {
                denySelectColumns(table.toString(), columns);
            }
        }

        @Override
        public Collection<Identity> filterViewQueryOwnedBy(Identity identity, Collection<Identity> owners)
        {
            return identity.getUser().equals("bob") ? List.of() : owners;
        }

        @Override
        public List<ViewExpression> getRowFilters(SystemSecurityContext context, CatalogSchemaTableName table)
        {
            if (context.getIdentity().getUser().equals("filtered") && table.getCatalogName().equals("second")) {
                return ImmutableList.of(ViewExpression.builder().expression("requests > 0").build());
            }
            return ImmutableList.of();
        }

        @Override
        public Map<ColumnSchema, ViewExpression> getColumnMasks(
                SystemSecurityContext context,
                CatalogSchemaTableName table,
                List<ColumnSchema> columns)
        {
            if (context.getIdentity().getUser().equals("masked") && table.getCatalogName().equals("second")) {
                return ImmutableMap.of(columns.getFirst(), ViewExpression.builder().expression("'***'").build());
            }
            return ImmutableMap.of();
        }
    }
}
