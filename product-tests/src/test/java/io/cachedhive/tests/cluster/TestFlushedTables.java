package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What {@code flush_data_cache} leaves to be served on a real cluster, one of whose cache workers was down meanwhile: nothing.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "flushes", singleThreaded = true)
public class TestFlushedTables
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int MAX_SAMPLES = 4096;
    // words of like texts are shorter
    private static final int SAMPLE_BYTES = 64;

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.flushes");
        }
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            // so many files that each host owns some
            connection.query("CREATE TABLE parts WITH (format = 'ORC', partitioned_by = ARRAY['nation']) AS "
                    + "SELECT custkey, name, address, comment, nationkey AS nation FROM tpch.\"sf0.1\".customer");
            connection.query("CREATE TABLE kept WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
        }
    }

    private static String call(String schema, String table, String... partition)
    {
        return "CALL system.flush_data_cache(schema_name => %s, table_name => %s".formatted(schema, table)
                + (partition.length > 0 ? ", partition_columns => " + partition[0] : "")
                + (partition.length > 1 ? ", partition_values => " + partition[1] : "")
                + ")";
    }

    private void load(SqlConnection connection, String query)
            throws Exception
    {
        // what came while a file was too young to be kept comes again
        Await.until("all of it is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, query) == 0);
    }

    @Test
    public void testPartitionsAreFlushedAlone()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(comment) FROM parts");
            connection.query("CALL system.flush_data_cache(schema_name => 'flushes', table_name => 'parts', "
                    + "partition_columns => ARRAY['nation'], partition_values => ARRAY['1'])");
            new NoOriginReads(testing, connection).during("a query over other partitions", () -> connection.query("SELECT max(comment) FROM parts WHERE nation IN (0, 2)"));
            assertThat(testing.gets(connection, "SELECT max(comment) FROM parts WHERE nation = 1")).isPositive();
        }
    }

    @Test
    public void testContents()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(custkey), max(name), max(address), max(comment) FROM parts");
            load(connection, "SELECT count(*), max(comment) FROM kept");
            List<List<Object>> listed = connection.query("SELECT DISTINCT \"$path\", \"$file_size\" FROM parts").rows();
            // the table of the system lists a file once for each catalog whose metastore has its table
            for (String files : List.of("cachedhive.cache.files", "(SELECT * FROM system.cache.files WHERE catalog_name = 'cachedhive')")) {
                assertThat(connection.query("SELECT file_path, file_size FROM %s WHERE schema_name = 'flushes' AND table_name = 'parts'".formatted(files)).rows())
                        .containsExactlyInAnyOrderElementsOf(listed);
            }
            assertThat(connection.query(
                    "SELECT count(*) FROM cachedhive.cache.files "
                    + "WHERE schema_name = 'flushes' "
                    + "AND (cached_bytes < 1 OR cached_bytes > ram_bytes + ssd_bytes OR class NOT IN ('NORMAL', 'GUEST') OR expiry < now())").onlyValue())
                    .isEqualTo(0L);
            assertThat(Counters.rowsAtRest(
                    connection,
                    "SELECT count(*), count(DISTINCT partition), min(partition) FROM system.cache.partitions "
                    + "WHERE catalog_name = 'cachedhive' AND schema_name = 'flushes' AND table_name = 'parts'"))
                    .containsExactly(List.of(25L, 25L, "nation=0"));
            assertThat(Counters.rowsAtRest(
                    connection,
                    "SELECT (SELECT sum(cached_bytes) FROM cachedhive.cache.files WHERE schema_name = 'flushes' AND table_name = 'parts') = cached_bytes, "
                    + "(SELECT sum(cached_bytes) FROM cachedhive.cache.partitions WHERE schema_name = 'flushes' AND table_name = 'parts') = cached_bytes, "
                    + "hit_rate > 0, saved_requests > 0, saved_bytes > 0, saved_cost > 0, spent_requests > 0, spent_cost > 0 "
                    + "FROM cachedhive.cache.tables WHERE schema_name = 'flushes' AND table_name = 'parts'"))
                    .containsExactly(List.of(true, true, true, true, true, true, true, true));
        }
        try (SqlConnection guest = testing.connectAs("guest", "flushes")) {
            for (String table : List.of(
                    "cachedhive.cache.files",
                    "cachedhive.cache.partitions",
                    "cachedhive.cache.tables",
                    "system.cache.files",
                    "system.cache.partitions",
                    "system.cache.tables")) {
                assertThat(guest.query("SELECT DISTINCT table_name FROM %s WHERE schema_name = 'flushes'".formatted(table)).rows()).as(table).containsExactly(List.of("kept"));
            }
        }
    }

    @Test(dependsOnMethods = "testContents")
    public void testEvents()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes"); SqlConnection guest = testing.connectAs("guest", "flushes")) {
            connection.query(call("'flushes'", "'kept'"));
            connection.query("CALL system.flush_location('s3://%s/elsewhere/')".formatted(Cluster.BUCKET));
            assertThatThrownBy(() -> guest.query(call("'flushes'", "'parts'"))).hasMessageContaining("Access Denied");
            String events = "SELECT DISTINCT user, flushed, outcome FROM cachedhive.cache.events "
                    + "CROSS JOIN (VALUES 'parts', 'kept', 'elsewhere') AS names (flushed) WHERE type = 'FLUSH' AND description LIKE '%' || flushed || '%'";
            assertThat(connection.query(events).rows())
                    .contains(List.of("test", "kept", "SUCCEEDED"), List.of("test", "elsewhere", "SUCCEEDED"), List.of("guest", "parts", "DENIED"));
            assertThat(guest.query(events).rows())
                    .contains(List.of("test", "kept", "SUCCEEDED"))
                    .noneMatch(row -> row.contains("parts") || row.contains("elsewhere"));
        }
    }

    @Test
    public void testArguments()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['nation']")))
                    .hasMessageContaining("partition_columns and partition_values are required both or neither");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['day']", "ARRAY['1']")))
                    .hasMessageContaining("table flushes.parts has no partition column day, but [nation]");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['nation']", "ARRAY['77']")))
                    .hasMessageContaining("table flushes.parts has no partition with {nation=77}");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'parts'", "ARRAY['nation']", "ARRAY['one']")))
                    .hasMessageContaining("value of partition column nation is not a bigint: one");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'kept'", "ARRAY['nation']", "ARRAY['1']")))
                    .hasMessageContaining("table flushes.kept is not partitioned: leave out partition_columns and partition_values");
            assertThatThrownBy(() -> connection.query(call("'flushes'", "'nothing'"))).hasMessageContaining("Table 'flushes.nothing' not found");
        }
        try (SqlConnection guest = testing.connectAs("guest", "flushes")) {
            assertThatThrownBy(() -> guest.query(call("'flushes'", "'parts'")))
                    .hasMessageContaining("Access Denied: Cannot select from table flushes.parts");
            // nor does it say what is there
            assertThatThrownBy(() -> guest.query(call("'flushes'", "'nothing'")))
                    .hasMessageContaining("Access Denied: Cannot select from table flushes.nothing");
        }
        try (SqlConnection stranger = testing.connectAs("stranger", "flushes")) {
            assertThatThrownBy(() -> stranger.query(call("'flushes'", "'kept'")))
                    .hasMessageContaining("Access Denied: Cannot execute procedure system.flush_data_cache");
        }
    }

    @Test(dependsOnMethods = {"testPartitionsAreFlushedAlone", "testEvents", "testArguments"})
    public void testNothingIsServedAlsoByOneThatWasDown()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "flushes")) {
            load(connection, "SELECT count(*), max(custkey), max(name), max(address), max(comment) FROM parts");
            load(connection, "SELECT count(*), max(comment) FROM kept");
            assertThat(listed(connection, "parts")).isPositive();
            long files = (long) connection.query("SELECT (SELECT count(DISTINCT \"$path\") FROM parts) + (SELECT count(DISTINCT \"$path\") FROM kept)").onlyValue();
            Await.until("all files are listed and on SSD", TIMEOUT, QUERY_PAUSE, () -> (boolean) connection.query(
                    "SELECT count(*) = %s AND min(ssd_bytes) > 0 FROM cachedhive.cache.files WHERE schema_name = 'flushes'".formatted(files)).onlyValue());
            long bytes = bytesOnSsd(connection);

            ClusterNode down = testing.cluster().cacheWorkers().get(1);
            down.kill();
            assertThat(bytesOnSsd(connection)).as("the one that went had some").isLessThan(bytes);
            connection.query(call("'flushes'", "'parts'"));
            assertThat(listed(connection, "parts")).isZero();

            down.restart();
            Await.until("both answer", TIMEOUT, QUERY_PAUSE, () ->
                    (boolean) connection.query("SELECT count(*) = 2 FROM cachedhive.cache.stats WHERE state = 'RUNNING'").onlyValue());
            Await.until("the one that was down lists files again", TIMEOUT, QUERY_PAUSE, () -> listed(connection, "kept") > 0 && listed(connection, "parts") == 0);
            assertThat(testing.gets(connection, "SELECT max(comment) FROM parts")).isPositive();
        }
    }

    private static long bytesOnSsd(SqlConnection connection)
            throws SQLException
    {
        return (long) connection.query("SELECT coalesce(sum(ssd_bytes), 0) FROM cachedhive.cache.files WHERE schema_name = 'flushes' AND table_name = 'parts'").onlyValue();
    }

    private static long listed(SqlConnection connection, String table)
            throws SQLException
    {
        return (long) connection.query("SELECT count(*) FROM cachedhive.cache.files WHERE schema_name = 'flushes' AND table_name = '%s'".formatted(table)).onlyValue();
    }
}
