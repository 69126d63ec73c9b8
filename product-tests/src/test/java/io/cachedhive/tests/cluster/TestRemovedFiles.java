package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Statements that remove files release the blocks of these files on all cache workers of a real cluster, and of no other files. INSERT OVERWRITE takes a real
 * metastore: the tests on container hosts have it.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "flushes", singleThreaded = true)
public class TestRemovedFiles
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.removed");
        }
    }

    /**
     * Creates a table of 25 files, so that each host owns some.
     */
    private static void create(SqlConnection connection, String table)
            throws SQLException
    {
        connection.query(
                "CREATE TABLE %s WITH (format = 'ORC', partitioned_by = ARRAY['nation']) AS SELECT custkey, comment, nationkey AS nation FROM tpch.tiny.customer".formatted(table));
    }

    private void load(SqlConnection connection, String table)
            throws Exception
    {
        // what came while a file was too young to be kept comes again
        Await.until("all of it is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, "SELECT max(custkey), max(comment), max(nation) FROM " + table) == 0);
    }

    private static Set<String> paths(SqlConnection connection, String table)
            throws SQLException
    {
        return strings(connection, "SELECT DISTINCT \"$path\" FROM " + table);
    }

    private static Set<String> cachedPaths(SqlConnection connection, String table)
            throws SQLException
    {
        return strings(connection, "SELECT file_path FROM cachedhive.cache.files WHERE schema_name = 'removed' AND table_name = '%s'".formatted(table));
    }

    private static Set<String> strings(SqlConnection connection, String query)
            throws SQLException
    {
        return connection.query(query).rows().stream().map(row -> (String) row.getFirst()).collect(toSet());
    }

    private static void awaitCached(SqlConnection connection, String table, Set<String> paths)
            throws Exception
    {
        long start = System.nanoTime();
        Await.until("the blocks of removed files are released", TIMEOUT, QUERY_PAUSE, () -> cachedPaths(connection, table).equals(paths));
        System.out.printf("%s has blocks of %s files %s ms after the statement%n", table, paths.size(), Duration.ofNanos(System.nanoTime() - start).toMillis());
    }

    @Test
    public void testDeletedPartitions()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "removed")) {
            create(connection, "deleted");
            load(connection, "deleted");
            assertThat(cachedPaths(connection, "deleted")).isEqualTo(paths(connection, "deleted")).hasSize(25);
            connection.query("DELETE FROM deleted WHERE nation < 5 OR nation = 22");
            Set<String> left = paths(connection, "deleted");
            assertThat(left).hasSize(19);
            awaitCached(connection, "deleted", left);
        }
    }

    @Test
    public void testDroppedTableWhileACacheWorkerHangs()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "removed")) {
            create(connection, "dropped");
            create(connection, "dropped_not");
            load(connection, "dropped");
            load(connection, "dropped_not");
            assertThat(cachedPaths(connection, "dropped")).hasSize(25);
            ClusterNode hanging = testing.cluster().cacheWorkers().get(1);
            signal(hanging, "-STOP");
            try {
                // it would never end if it waited for the cache worker
                connection.query("DROP TABLE dropped");
            }
            finally {
                signal(hanging, "-CONT");
            }
            // All files of the other table are listed only when both cache workers answer. Either the release or the flush drops the blocks, whichever comes first.
            Set<String> left = paths(connection, "dropped_not");
            assertThat(left).hasSize(25);
            Await.untilAsserted("the blocks of the dropped table are released", TIMEOUT, QUERY_PAUSE, () ->
                    assertThat(strings(connection, "SELECT file_path FROM cachedhive.cache.files WHERE schema_name = 'removed' AND table_name LIKE 'dropped%'")).isEqualTo(left));
        }
    }

    private static void signal(ClusterNode node, String signal)
            throws Exception
    {
        assertThat(new ProcessBuilder("kill", signal, Long.toString(node.pid())).inheritIO().start().waitFor()).isZero();
    }
}
