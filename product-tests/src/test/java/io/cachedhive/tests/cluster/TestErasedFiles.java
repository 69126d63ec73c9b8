package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Blocks of files that no table has any more are on no cache worker of a real cluster, and the log of the coordinator shows who called which procedure.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "flushes", singleThreaded = true)
public class TestErasedFiles
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final String CATALOG = SharedCluster.ADMINS;

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        try (SqlConnection connection = testing.connect(CATALOG, "default")) {
            connection.query("CREATE SCHEMA %s.erased".formatted(CATALOG));
        }
    }

    /**
     * Creates a table of 25 files, so that each host owns some, and loads it into the cache.
     */
    private void create(SqlConnection connection, String table)
            throws Exception
    {
        connection.query(
                "CREATE TABLE %s WITH (format = 'ORC', partitioned_by = ARRAY['nation']) AS SELECT custkey, comment, nationkey AS nation FROM tpch.tiny.customer".formatted(table));
        // what came while a file was too young to be kept comes again
        Await.until("all of it is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, "SELECT max(custkey), max(comment), max(nation) FROM " + table) == 0);
    }

    private static long cachedFiles(SqlConnection connection, String directory)
            throws SQLException
    {
        return (long) connection.query("SELECT count(*) FROM cachedhive.cache.files WHERE starts_with(file_path, '%s')".formatted(directory)).onlyValue();
    }

    private static long filesOnSsd(SqlConnection connection, String directory)
            throws SQLException
    {
        return (long) connection.query("SELECT count(*) FROM cachedhive.cache.files WHERE ssd_bytes > 0 AND starts_with(file_path, '%s')".formatted(directory)).onlyValue();
    }

    private static String directory(SqlConnection connection, String table)
            throws SQLException
    {
        String path = (String) connection.query("SELECT min(\"$path\") FROM " + table).onlyValue();
        return path.substring(0, path.indexOf("/%s/".formatted(table))) + "/%s/".formatted(table);
    }

    private List<String> auditLines(String procedure)
            throws IOException
    {
        return Files.readAllLines(testing.cluster().coordinator().logFile()).stream()
                .filter(line -> line.contains("io.cachedhive.audit") && line.contains("procedure=%s.system.%s ".formatted(CATALOG, procedure)))
                // the colors of the log
                .map(line -> line.replaceAll("\\u001B\\[[0-9;]*m", ""))
                .toList();
    }

    @Test
    public void testFlushedLocation()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "erased")) {
            create(connection, "orphans");
            String directory = directory(connection, "orphans");
            assertThat(cachedFiles(connection, directory)).isEqualTo(25);
            String partition = directory + "nation=3/";
            String file = (String) connection.query("SELECT min(\"$path\") FROM orphans WHERE nation = 4").onlyValue();

            String call = "CALL system.flush_location(location => '%s')";
            connection.query(call.formatted(partition));
            String query = (String) connection.query("SELECT query_id FROM system.runtime.queries WHERE query LIKE 'CALL system.flush_location%nation=3/%'").onlyValue();
            assertThat(cachedFiles(connection, directory)).isEqualTo(24);
            connection.query(call.formatted(file.replaceFirst("^s3:", "s3a:")));
            assertThat(cachedFiles(connection, directory)).isEqualTo(23);
            assertThatThrownBy(() -> connection.query(call.formatted("s3://lake"))).hasMessageContaining("location s3://lake names no file and no prefix");
            assertThatThrownBy(() -> connection.query(call.formatted("/tmp/"))).hasMessageContaining("location /tmp/ is in no store that catalog %s caches".formatted(CATALOG));
            try (SqlConnection guest = testing.connectAs("guest", "erased")) {
                guest.setCatalogAndSchema(CATALOG, "erased");
                assertThatThrownBy(() -> guest.query(call.formatted(directory + "\n" + directory)))
                        .hasMessageContaining("Access Denied: User guest cannot call %s.system.flush_location: ".formatted(CATALOG))
                        .hasMessageContaining("add the user or a group of the user to cachedhive.admin-users of catalog " + CATALOG);
            }
            assertThat(cachedFiles(connection, directory)).isEqualTo(23);

            List<String> lines = auditLines("flush_location");
            assertThat(lines).hasSize(5);
            assertThat(lines.get(0)).endsWith("user='test' query=%s procedure=%s.system.flush_location arguments=(location => '%s') outcome=SUCCEEDED".formatted(
                    query,
                    CATALOG,
                    partition));
            assertThat(lines.get(1)).endsWith("outcome=SUCCEEDED");
            assertThat(lines.subList(2, 4)).allMatch(line -> line.contains("outcome=FAILED reason='location "));
            assertThat(lines.get(4)).contains("user='guest' query=2", "arguments=(location => '%s\\u000A%s') outcome=DENIED".formatted(directory, directory));
        }
    }

    @Test
    public void testProceduresForAdminsOnly()
            throws Exception
    {
        try (SqlConnection guest = testing.connectAs("guest", "erased")) {
            guest.setCatalogAndSchema(CATALOG, "default");
            for (String call : List.of(
                    "set_cache_mode('OFF')",
                    "refresh_cache_rules()",
                    "pin_partition('default', 't')",
                    "unpin_partition('default', 't')",
                    "flush_data_cache(schema_name => 'default', table_name => 't')",
                    "flush_location('s3://lake/t/')",
                    "preload_table(schema_name => 'default', table_name => 't', pin => true)")) {
                assertThatThrownBy(() -> guest.query("CALL system." + call)).as(call).hasMessageContaining("Access Denied: User guest cannot call");
            }
            assertThatThrownBy(() -> guest.query("CALL system.preload_table('default', 't')")).hasMessageContaining("Schema default not found");
            assertThat(auditLines("preload_table")).hasSize(2).allMatch(line -> line.contains("user='guest'"));
        }
    }

    @Test(dependsOnMethods = {"testFlushedLocation", "testProceduresForAdminsOnly"})
    public void testDroppedTableIsGoneAlsoOnACacheWorkerThatWasDown()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "erased")) {
            create(connection, "dropped");
            create(connection, "kept");
            String dropped = directory(connection, "dropped");
            String kept = directory(connection, "kept");
            Await.until("the files are on SSD", TIMEOUT, QUERY_PAUSE, () -> filesOnSsd(connection, dropped) == 25 && filesOnSsd(connection, kept) == 25);

            ClusterNode down = testing.cluster().cacheWorkers().get(1);
            down.kill();
            long left = cachedFiles(connection, kept);
            assertThat(left).isLessThan(25);
            connection.query("DROP TABLE dropped");
            Await.until("the other one has flushed", TIMEOUT, QUERY_PAUSE, () -> cachedFiles(connection, dropped) == 0);

            down.restart();
            testing.awaitRing();
            Await.until("the one that was down lists files again", TIMEOUT, QUERY_PAUSE, () -> cachedFiles(connection, kept) > left);
            Await.until("it has flushed as well", TIMEOUT, QUERY_PAUSE, () -> cachedFiles(connection, dropped) == 0);
        }
    }
}
