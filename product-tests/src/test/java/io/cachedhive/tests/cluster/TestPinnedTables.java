package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Partitions that are pinned by name on a real cluster stay under a scan of ten times what it can hold, and over restarts, until they are unpinned.
 */
@Test(groups = "flushes", singleThreaded = true)
public class TestPinnedTables
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int SCANNED_FILES = 11;
    private static final int SCANNED_FILE_BYTES = 32 << 20;
    private static final int LINE_BYTES = 1024;

    private TestingCluster testing;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = TestingCluster.start("pins", builder -> TableRights.guard(builder, "pins")
                .hosts(2)
                .ramMaxSize("32MB")
                .ssdMaxSize("16MB")
                // no guests: they count as cached, and are not pinned
                .cacheWorker((_, home) -> home.config("cache.block-size", "256kB").config("cache.guest-max-share", "0"))
                // so that each file is shared by both hosts
                .cachedHiveProperty("cachedhive.chunk-size", "1MB"));
        testing.awaitRing();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.pins");
        }
        try (SqlConnection connection = testing.connect("cachedhive", "pins")) {
            connection.query("CREATE TABLE hot WITH (format = 'TEXTFILE', partitioned_by = ARRAY['part']) AS "
                    + "SELECT custkey, name, address, comment, custkey % 4 AS part FROM tpch.sf1.customer WHERE custkey <= 75000");
            connection.query("CREATE TABLE big (line varchar) WITH (format = 'TEXTFILE', external_location = 's3://%s/pins-big')".formatted(Cluster.BUCKET));
        }
        putLines();
    }

    @AfterClass(alwaysRun = true)
    public void stop()
    {
        if (testing != null) {
            testing.close();
        }
    }

    private void putLines()
    {
        byte[] bytes = new byte[SCANNED_FILE_BYTES];
        try (S3Client client = testing.cluster().s3().client()) {
            for (int i = 0; i < SCANNED_FILES; i++) {
                new Random(i).nextBytes(bytes);
                for (int position = 0; position < bytes.length; position++) {
                    bytes[position] = (byte) (position % LINE_BYTES == LINE_BYTES - 1 ? '\n' : 'A' + (bytes[position] & 15));
                }
                String key = key(i);
                client.putObject(request -> request.bucket(Cluster.BUCKET).key(key), RequestBody.fromBytes(bytes));
            }
        }
    }

    private static String count(int part)
    {
        return "SELECT count(*), max(comment) FROM hot WHERE part = " + part;
    }

    /**
     * Reads one of the files, and no other.
     */
    private static String scan(int file)
    {
        return "SELECT count(*) FROM big WHERE \"$path\" = 's3://%s/%s'".formatted(Cluster.BUCKET, key(file));
    }

    private static String key(int file)
    {
        return "pins-big/file-" + file;
    }

    private static String call(String procedure, String table, int part)
    {
        return "CALL system.%s(schema_name => 'pins', table_name => '%s', partition_columns => ARRAY['part'], partition_values => ARRAY['%s'])".formatted(procedure, table, part);
    }

    private static long number(SqlConnection connection, String query)
    {
        try {
            return ((Number) connection.query(query).onlyValue()).longValue();
        }
        catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static long pinnedBytes(SqlConnection connection)
    {
        // on a busy machine one may take longer to answer than it is waited for, and says nothing then
        String query = "SELECT if(count(pinned_bytes) = 2, sum(pinned_bytes), -1) FROM cachedhive.cache.stats_detail";
        return Await.untilPresent("both cache workers answer", TIMEOUT, QUERY_PAUSE, () -> Optional.of(number(connection, query)).filter(bytes -> bytes >= 0));
    }

    private static long fileBytes(SqlConnection connection, String parts)
    {
        return number(connection, "SELECT sum(size) FROM (SELECT DISTINCT \"$path\", \"$file_size\" AS size FROM hot WHERE part IN (%s))".formatted(parts));
    }

    private static void awaitPinned(SqlConnection connection, long bytes)
            throws Exception
    {
        Await.until("it is pinned on SSD", TIMEOUT, QUERY_PAUSE, () -> pinnedBytes(connection) == bytes);
    }

    @Test
    public void testPinnedPartitionsStay()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "pins")) {
            long capacity = number(connection, "SELECT sum(ssd_capacity_bytes) FROM cachedhive.cache.stats_detail");
            assertThat((long) SCANNED_FILES * SCANNED_FILE_BYTES).isGreaterThan(10 * capacity);
            // one is there before it is pinned, the other one is loaded afterwards
            Await.until("all of it is cached", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, count(1)) == 0);
            assertThat(pinnedBytes(connection)).isZero();
            connection.query(call("pin_partition", "hot", 1));
            connection.query("CALL system.preload_partition(schema_name => 'pins', table_name => 'hot', "
                    + "partition_columns => ARRAY['part'], partition_values => ARRAY['2'], pin => true)");
            long bytes = fileBytes(connection, "1, 2");
            awaitPinned(connection, bytes);
            for (String catalog : List.of("cachedhive", "system")) {
                assertThat(connection.query(
                        """
                        SELECT schema_name, table_name, partition, cached_bytes > 0, cached_bytes = pinned_bytes
                        FROM %s.cache.pins
                        WHERE problem IS NULL
                        ORDER BY partition
                        """.formatted(catalog)).rows())
                        .containsExactly(List.of("pins", "hot", "part=1", true, true), List.of("pins", "hot", "part=2", true, true));
            }
            assertThat(number(connection, "SELECT sum(pinned_bytes) FROM cachedhive.cache.pins")).isEqualTo(bytes);
            assertThat(number(connection, "SELECT count(*) FROM cachedhive.cache.files WHERE file_path LIKE '%/part=1/%' AND class <> 'PINNED'")).isZero();

            for (int i = 0; i < SCANNED_FILES; i++) {
                assertThat(testing.gets(connection, scan(i))).isPositive();
                // none has left; so little RAM may still be busy with what was scanned, and then somebody reads past it
                assertThat(pinnedBytes(connection)).as("after file %s of the scan", i).isEqualTo(bytes);
                Await.until("it is served", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, count(1)) + testing.gets(connection, count(2)) == 0);
            }
            assertThat(number(connection, "SELECT sum(ssd_evictions) FROM cachedhive.cache.stats_detail")).as("there was no room for all").isPositive();
            assertThat(pinnedBytes(connection)).isEqualTo(bytes);

            for (ClusterNode worker : testing.cluster().cacheWorkers()) {
                worker.restart();
            }
            Await.until("both answer", TIMEOUT, QUERY_PAUSE, () -> number(connection, "SELECT count(*) FROM cachedhive.cache.stats WHERE state = 'RUNNING'") == 2);
            awaitPinned(connection, bytes);
            Await.until("it is served again", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, count(1)) + testing.gets(connection, count(2)) == 0);
            assertThat(number(connection, "SELECT count(*) FROM cachedhive.cache.pins WHERE problem IS NULL")).isEqualTo(2);
        }
    }

    @Test(dependsOnMethods = "testPinnedPartitionsStay")
    public void testFlushRemovesTheBlocksAndNotThePin()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "pins")) {
            connection.query("CALL system.flush_data_cache(schema_name => 'pins', table_name => 'hot')");
            assertThat(pinnedBytes(connection)).isZero();
            assertThat(number(connection, "SELECT sum(cached_bytes) FROM cachedhive.cache.pins")).isZero();
            assertThat(testing.gets(connection, count(1))).isPositive();
            assertThat(testing.gets(connection, count(2))).isPositive();
            awaitPinned(connection, fileBytes(connection, "1, 2"));
        }
    }

    @Test(dependsOnMethods = "testFlushRemovesTheBlocksAndNotThePin")
    public void testUnpinnedPartitionsLeave()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "pins")) {
            connection.query(call("unpin_partition", "hot", 1));
            assertThat(pinnedBytes(connection)).isEqualTo(fileBytes(connection, "2"));
            assertThat(connection.query("SELECT partition FROM cachedhive.cache.pins WHERE problem IS NULL").rows()).containsExactly(List.of("part=2"));
            // more is pinned than there is room for: no more than that, and nothing of a lower class stays
            connection.query("CALL system.pin_partition('pins', 'big')");
            for (int i = 0; i < 4; i++) {
                connection.query(scan(i));
            }
            assertThat(testing.gets(connection, count(1))).isPositive();
            assertThat(number(connection, "SELECT pinned_bytes FROM cachedhive.cache.pins WHERE partition = 'part=2'")).isEqualTo(fileBytes(connection, "2"));
            Await.until("what is pinned is served", TIMEOUT, QUERY_PAUSE, () -> testing.gets(connection, count(2)) == 0);
            assertThat(number(connection, "SELECT count(*) FROM cachedhive.cache.stats_detail WHERE pinned_bytes > pinned_max_bytes OR rejected_pins = 0")).isZero();
            assertThat(connection.query("SELECT partition IS NULL, pinned_bytes < cached_bytes FROM cachedhive.cache.pins WHERE table_name = 'big'").rows())
                    .containsExactly(List.of(true, true));

            connection.query("CALL system.unpin_partition('pins', 'big')");
            connection.query("CALL system.unpin_partition('pins', 'hot')");
            assertThat(number(connection, "SELECT count(*) FROM system.cache.pins WHERE problem IS NULL")).isZero();
            assertThat(pinnedBytes(connection)).isZero();
        }
    }

    @Test(dependsOnMethods = "testUnpinnedPartitionsLeave")
    public void testArguments()
            throws Exception
    {
        try (SqlConnection connection = testing.connect("cachedhive", "pins")) {
            assertThatThrownBy(() -> connection.query(call("pin_partition", "hot", 77))).hasMessageContaining("table pins.hot has no partition with {part=77}");
            assertThatThrownBy(() -> connection.query("CALL system.pin_partition('pins', 'hot', ARRAY['part'])"))
                    .hasMessageContaining("partition_columns and partition_values are required both or neither");
            assertThatThrownBy(() -> connection.query(call("unpin_partition", "hot", 1)))
                    .hasMessageContaining("pins.hot with {part=1} is not pinned: the table cache.pins lists what is");
            assertThatThrownBy(() -> connection.query("CALL system.unpin_partition('pins', 'nothing')")).hasMessageContaining("pins.nothing is not pinned");
            assertThatThrownBy(() -> connection.query("CALL system.pin_partition('pins', 'nothing')")).hasMessageContaining("Table 'pins.nothing' not found");
            connection.query("CALL system.pin_partition('pins', 'hot')");
            assertThatThrownBy(() -> connection.query(call("unpin_partition", "hot", 1))).hasMessageContaining("table pins.hot is pinned as a whole");
            try (SqlConnection guest = testing.connectAs("guest", "pins")) {
                assertThatThrownBy(() -> guest.query("CALL system.pin_partition('pins', 'hot')")).hasMessageContaining("Access Denied: Cannot select from table pins.hot");
                assertThatThrownBy(() -> guest.query("CALL system.unpin_partition('pins', 'hot')")).hasMessageContaining("Access Denied: Cannot select from table pins.hot");
                assertThat(guest.query("SELECT * FROM cachedhive.cache.pins").rows()).isEmpty();
                assertThat(guest.query("SELECT * FROM system.cache.pins").rows()).isEmpty();
            }
            try (SqlConnection stranger = testing.connectAs("stranger", "pins")) {
                assertThatThrownBy(() -> stranger.query("CALL system.pin_partition('pins', 'hot')"))
                        .hasMessageContaining("Access Denied: Cannot execute procedure system.pin_partition");
            }
            // also when the table is not there any more
            connection.query("DROP TABLE hot");
            assertThat(number(connection, "SELECT count(*) FROM cachedhive.cache.pins")).isEqualTo(1);
            connection.query("CALL system.unpin_partition('pins', 'hot')");
            assertThat(number(connection, "SELECT count(*) FROM cachedhive.cache.pins")).isZero();
        }
    }
}
