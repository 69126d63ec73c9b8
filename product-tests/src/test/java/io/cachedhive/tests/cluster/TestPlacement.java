package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3RequestLog;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where splits and buckets go on two hosts, with chunks so small that two files of a scan are more than one host's share.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(singleThreaded = true)
public class TestPlacement
{
    private static final String CATALOG = SharedCluster.SMALL_CHUNKS;
    private static final int PARTITIONS = 10;

    private TestingCluster testing;

    @BeforeClass(alwaysRun = true)
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        testing.awaitRing(CATALOG);
        try (SqlConnection connection = testing.connect(CATALOG, "placement")) {
            connection.query("CREATE SCHEMA placement");
        }
    }

    /**
     * Two files of more than a chunk in each partition: half of the partitions have both with one owner, who may read only one of them. None has in one of a
     * thousand tables.
     */
    @Test(groups = "placement")
    public void testOverflow()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "placement")) {
            connection.setSession(CATALOG + ".compression_codec", "NONE");
            long overflowed = 0;
            for (int table = 1; overflowed == 0 && table <= 3; table++) {
                overflowed = overflowed(connection, "pairs_" + table);
            }
            assertThat(overflowed).as("overflowed splits").isPositive();
        }
    }

    private static long overflowed(SqlConnection connection, String table)
            throws Exception
    {
        String columns = "SELECT orderkey, comment, extendedprice, shipinstruct, shipdate, mod(orderkey, %s) AS p FROM tpch.\"sf0.1\".lineitem WHERE linenumber %s"
                .formatted(PARTITIONS, "%s");
        connection.query("CREATE TABLE " + table + " WITH (format = 'TEXTFILE', partitioned_by = ARRAY['p']) AS " + columns.formatted("<= 2"));
        connection.query("INSERT INTO " + table + " " + columns.formatted("> 2"));

        long overflowed = 0;
        for (int partition = 0; partition < PARTITIONS; partition++) {
            String scan = "FROM " + table + " WHERE p = " + partition;
            long files = (long) connection.query("SELECT count(DISTINCT \"$path\") " + scan).onlyValue();
            String plan = (String) connection.query("EXPLAIN ANALYZE VERBOSE SELECT max(comment) " + scan).onlyValue();
            long counted = metric(plan, "splits_overflowed");
            overflowed += counted;
            assertThat(metric(plan, "splits_at_owner") + counted).as(plan).isEqualTo(files);
            assertThat(metric(plan, "splits_without_owner")).as(plan).isZero();
            // who may not take more passes on no more than all but one
            assertThat(counted).as(plan).isLessThan(files);

            connection.setSession(CATALOG + ".max_scan_skew", "1000");
            String unbounded = (String) connection.query("EXPLAIN ANALYZE VERBOSE SELECT max(comment) " + scan).onlyValue();
            assertThat(metric(unbounded, "splits_at_owner")).as(unbounded).isEqualTo(files);
            assertThat(metric(unbounded, "splits_overflowed")).as(unbounded).isZero();
            connection.setSession(CATALOG + ".max_scan_skew", "0.25");
        }
        String sums = "SELECT p, count(*), sum(CAST(extendedprice AS decimal(18, 2))), max(comment) FROM %s.placement." + table + " GROUP BY p ORDER BY p";
        assertThat(connection.query(sums.formatted(CATALOG)).rows()).isEqualTo(connection.query(sums.formatted("hive")).rows());
        return overflowed;
    }

    /**
     * Owners are those of chunks, not of splits: however a table is cut, its bytes are where they were.
     */
    @Test(groups = "placement")
    public void testOtherSplitsReadNothingAgain()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(CATALOG, "placement")) {
            connection.setSession(CATALOG + ".compression_codec", "NONE");
            connection.query("CREATE TABLE cut WITH (format = 'TEXTFILE') AS SELECT * FROM tpch.\"sf0.1\".orders");
            OldFiles.await(connection, "placement.cut");
            String scan = "SELECT count(*), sum(CAST(totalprice AS decimal(18, 2))), to_hex(checksum(comment)) FROM cut";
            S3RequestLog log = testing.cluster().s3().log();
            long begin = log.mark();
            List<List<Object>> expected = connection.query(scan).rows();
            assertThat(log.dataFileCountsSince(begin).gets()).as("GETs of the first scan").isPositive();

            // readers do not wait for ever for a cache worker that fetches on a busy machine
            Await.until("all of it is cached", Duration.ofMinutes(2), QUERY_PAUSE, () -> testing.gets(connection, scan) == 0);

            for (String size : List.of("4MB", "1MB", "300kB")) {
                connection.setSession(CATALOG + ".max_split_size", size);
                new NoOriginReads(testing, connection, CATALOG).during("a scan in splits of " + size, () -> assertThat(connection.query(scan).rows()).isEqualTo(expected));
            }
        }
    }

    @Test(groups = "restarts")
    public void testRestartOfTheCoordinatorMovesNoBucket()
            throws Exception
    {
        List<String> before;
        try (SqlConnection connection = testing.connect(CATALOG, "placement")) {
            BucketedTable.create(connection);
            before = BucketedTable.nodesOfBuckets(connection, "before");
            // both nodes: else nothing could have moved
            assertThat(before.stream().distinct()).hasSize(2);
        }
        testing.cluster().coordinator().restart();
        testing.cluster().awaitWorkers(2, Duration.ofMinutes(2));
        testing.awaitRing(CATALOG);
        try (SqlConnection connection = testing.connect(CATALOG, "placement")) {
            assertThat(BucketedTable.nodesOfBuckets(connection, "after")).isEqualTo(before);
        }
    }

    private static long metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        assertThat(matcher.find()).as("%s in %s", name, plan).isTrue();
        return Long.parseLong(matcher.group(1));
    }
}
