package io.cachedhive.tests.containers;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3RequestLog;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterSuite;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static java.util.stream.Collectors.toCollection;
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

            // a reader that waits for a cache worker for too long asks the object store itself: on a slow machine in more than one scan
            Await.until("a scan asks the object store for nothing", Patience.LIMIT, QUERY_PAUSE, () -> {
                long next = log.mark();
                assertThat(cluster.rows(table.checksumQuery("cachedhive"))).isEqualTo(expected);
                return DataFiles.gets(log, next, table.prefix()) == 0;
            });
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

    public void testRemovedFilesAreReleased()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        try (LineItems table = LineItems.create(cluster, "removed");
                SqlConnection connection = cluster.connect("cachedhive", "shop")) {
            cluster.rows(table.checksumQuery("cachedhive"));
            Set<String> before = paths(connection);
            // a reader that waits for a cache worker for too long asks the object store itself
            Await.until("all files are cached", Patience.LIMIT, QUERY_PAUSE, () -> {
                cluster.rows(table.checksumQuery("cachedhive"));
                return cachedPaths(connection).equals(before);
            });

            connection.setSession("cachedhive.insert_existing_partitions_behavior", "OVERWRITE");
            connection.query("INSERT INTO removed SELECT orderkey, partkey, quantity, comment, linenumber FROM tpch.tiny.lineitem WHERE linenumber IN (1, 2)");
            Set<String> left = paths(connection);
            left.retainAll(before);
            assertThat(left).isNotEmpty().hasSizeLessThan(before.size());
            awaitCached(connection, before, left);

            connection.query("DELETE FROM removed WHERE linenumber = 3");
            Set<String> others = paths(connection);
            others.retainAll(left);
            assertThat(others).isNotEmpty().hasSizeLessThan(left.size());
            awaitCached(connection, before, others);

            Set<String> cachedBefore = cachedPaths(connection);
            connection.query("DROP TABLE removed");
            awaitCached(connection, cachedBefore, Set.of());
        }
    }

    private static Set<String> paths(SqlConnection connection)
            throws SQLException
    {
        return strings(connection, "SELECT DISTINCT \"$path\" FROM removed");
    }

    /**
     * By the name of the table that the cache has kept, which may be dropped already.
     */
    private static Set<String> cachedPaths(SqlConnection connection)
            throws SQLException
    {
        return strings(connection, "SELECT file_path FROM cachedhive.cache.files WHERE schema_name = 'shop' AND table_name = 'removed'");
    }

    private static Set<String> strings(SqlConnection connection, String query)
            throws SQLException
    {
        return connection.query(query).rows().stream().map(row -> (String) row.getFirst()).collect(toCollection(HashSet::new));
    }

    /**
     * @param of the files to look at: the new ones are cached when they are read
     */
    private static void awaitCached(SqlConnection connection, Set<String> of, Set<String> paths)
    {
        long start = System.nanoTime();
        Await.until("the blocks of removed files are released", Patience.LIMIT, QUERY_PAUSE, () -> {
            Set<String> cached = cachedPaths(connection);
            cached.retainAll(of);
            return cached.equals(paths);
        });
        System.out.printf("blocks of %s files are left %s ms after the statement%n", paths.size(), Duration.ofNanos(System.nanoTime() - start).toMillis());
    }

    public void testSystemTableShowsAllCacheWorkers()
            throws Exception
    {
        InstalledCluster cluster = SharedCluster.get();
        try (LineItems table = LineItems.create(cluster, "counted");
                SqlConnection connection = cluster.connect("system", "cache")) {
            cluster.rows(table.checksumQuery("cachedhive"));

            // of one and the same result: a cache worker may miss the time-out of the next query
            QueryResult stats = Await.untilPresent("all cache workers answer", Patience.LIMIT, QUERY_PAUSE, () -> {
                QueryResult result = connection.query("SELECT * FROM system.cache.stats");
                long running = result.rows().stream().filter(row -> "RUNNING".equals(row.get(result.columnIndex("state")))).count();
                return running == 3 ? Optional.of(result) : Optional.empty();
            });
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
