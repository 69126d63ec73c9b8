package io.cachedhive.tests.cluster;

import com.google.common.collect.Sets;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Preloads: what they fetch, seen at the object store, and how they begin, end, and go on.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(singleThreaded = true)
public class TestPreload
{
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    // what is still fetched after a job was cancelled
    private static final Duration END = Duration.ofSeconds(2);

    private TestingCluster testing;

    @BeforeClass(alwaysRun = true)
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.preload");
        }
    }

    @DataProvider
    public static Object[][] formats()
    {
        return new Object[][] {{"PARQUET"}, {"ORC"}};
    }

    /**
     * Two of sixteen columns, of files so long that neither Trino's small files nor its tiny stripes hide what is chosen.
     */
    @Test(groups = "preload", dataProvider = "formats")
    public void testColumns(String format)
            throws Exception
    {
        String table = "columns_" + format.toLowerCase(Locale.ROOT);
        create(table, format, 1);
        try (SqlConnection connection = testing.connect("cachedhive", "preload")) {
            Map<String, Long> lengths = lengths(connection, table, "big");
            assertThat(lengths.values()).as("bytes of files").anyMatch(length -> length > 16 << 20);
            String query = "SELECT count(*), sum(extendedprice), to_hex(checksum(shipmode)) FROM %s.preload." + table + " WHERE part = 'big'";

            long mark = mark();
            List<List<Object>> expected = connection.query(query.formatted("hive")).rows();
            FetchedBlocks touched = FetchedBlocks.since(testing.cluster().s3(), mark, lengths);

            mark = mark();
            connection.query("CALL system.preload_partition('preload', '%s', ARRAY['part'], ARRAY['big'], ARRAY['extendedprice', 'shipMode'])".formatted(table));
            DataFileGets gets = DataFileGets.since(testing.cluster().s3(), mark, "warehouse/preload/" + table);
            FetchedBlocks fetched = FetchedBlocks.since(testing.cluster().s3(), mark, lengths);
            List<Object> job = connection.query(
                    "SELECT done_bytes, fetched_bytes, remaining_bytes, failed_bytes, state, columns, partition FROM cache.preloads WHERE table_name = '%s'".formatted(table))
                    .rows().getFirst();
            System.out.printf(Locale.ROOT, "%s: files %d bytes; preloaded %d bytes in %d GETs; readers touch %d bytes of blocks (ratio %.4f) and ask for %d bytes (ratio %.4f)%n",
                    format,
                    lengths.values().stream().mapToLong(Long::longValue).sum(),
                    gets.bytes(),
                    gets.count(),
                    touched.blockBytes(),
                    (double) gets.bytes() / touched.blockBytes(),
                    touched.requestedBytes(),
                    (double) gets.bytes() / touched.requestedBytes());
            assertThat(Sets.difference(touched.blocks(), fetched.blocks())).as("blocks that readers touch and that were not preloaded").isEmpty();
            assertThat((double) gets.bytes()).as("preloaded bytes").isLessThanOrEqualTo(1.05 * touched.blockBytes());
            assertThat(gets.bytes()).as("preloaded bytes").isLessThan(lengths.values().stream().mapToLong(Long::longValue).sum() / 2);
            assertThat(job.subList(1, 7)).isEqualTo(List.of(gets.bytes(), 0L, 0L, "FINISHED", "extendedprice,shipmode", "part=big"));
            assertThat((long) job.getFirst()).isPositive().isLessThanOrEqualTo(gets.bytes());

            new NoOriginReads(testing, connection).during("queries over the columns", () -> {
                assertThat(connection.query(query.formatted("cachedhive")).rows()).isEqualTo(expected);
                connection.query("SELECT count(*), max(shipmode) FROM %s WHERE part = 'big' AND extendedprice BETWEEN 1000 AND 20000".formatted(table));
                connection.query("SELECT count(*) FROM %s WHERE part = 'big' AND shipmode = 'RAIL'".formatted(table));
            });

            mark = mark();
            connection.query("CALL system.preload_partition('preload', '%s', ARRAY['part'], ARRAY['big'], ARRAY['extendedprice', 'shipmode'])".formatted(table));
            assertThat(FetchedBlocks.since(testing.cluster().s3(), mark, lengths).times()).as("blocks that were preloaded again").isEmpty();
        }
    }

    /**
     * A killed coordinator is the hardest end of a preload; cancelling it the usual one.
     */
    @Test(groups = "preload")
    public void testEndsAndGoesOn()
            throws Exception
    {
        create("resumed", "ORC", 2);
        Map<String, Long> lengths;
        long mark;
        try (SqlConnection connection = testing.connect("cachedhive", "preload")) {
            lengths = lengths(connection, "resumed", "%");
            mark = mark();
            beginSlowly(connection, "resumed", "cancelled");
            assertThatThrownBy(() -> connection.query("CALL system.preload_table(schema_name => 'preload', table_name => 'resumed', job => 'cancelled')"))
                    .hasMessageContaining("preload cancelled has not ended yet");
            connection.query("CALL system.cancel_preload(job => 'cancelled')");
            Await.until("the job has ended", TIMEOUT, QUERY_PAUSE, () -> state(connection, "cancelled").equals("CANCELED"));
            Instant ended = Instant.now();
            assertThat(connection.query("SELECT remaining_bytes > 0, problem FROM cache.preloads WHERE job = 'cancelled'").rows())
                    .containsExactly(List.of(true, "test called cancel_preload"));
            // long enough for several pieces more, if it had not stopped
            Instant end = ended.plus(END);
            Await.until("time has passed", TIMEOUT, () -> Instant.now().isAfter(end.plusSeconds(2)));
            assertThat(testing.cluster().s3().log().since(mark))
                    .filteredOn(request -> request.key().filter(lengths::containsKey).isPresent() && request.isGet())
                    .noneMatch(request -> request.time().isAfter(end));
            assertThatThrownBy(() -> connection.query("CALL system.cancel_preload('cancelled')")).hasMessageContaining("has ended already: CANCELED");

            beginSlowly(connection, "resumed", "killed");
        }
        ClusterNode coordinator = testing.cluster().coordinator();
        coordinator.kill();
        coordinator.restart();
        testing.cluster().awaitWorkers(testing.cluster().workers().size(), TIMEOUT);
        long secondMark = mark();
        try (SqlConnection connection = testing.connect("cachedhive", "preload")) {
            testing.awaitRing();
            assertThat(connection.query("SELECT * FROM cache.preloads").rows()).isEmpty();
            connection.query("CALL system.preload_table(schema_name => 'preload', table_name => 'resumed', job => 'rest')");
            FetchedBlocks all = FetchedBlocks.since(testing.cluster().s3(), mark, lengths);
            FetchedBlocks rest = FetchedBlocks.since(testing.cluster().s3(), secondMark, lengths);
            long fileBytes = lengths.values().stream().mapToLong(Long::longValue).sum();
            System.out.printf("resumed: %s bytes of %s were fetched by the last call%n", rest.blockBytes(), fileBytes);
            assertThat(all.blockBytes()).isEqualTo(fileBytes);
            assertThat(all.times().entrySet()).as("blocks that were fetched twice").allMatch(block -> block.getCount() == 1);
            assertThat(rest.blockBytes()).isPositive().isLessThan(fileBytes * 9 / 10);
            assertThat(connection.query("SELECT state, remaining_bytes, failed_bytes, done_bytes, fetched_bytes FROM cache.preloads WHERE job = 'rest'").rows())
                    .containsExactly(List.of("FINISHED", 0L, 0L, fileBytes, rest.blockBytes()));
            new NoOriginReads(testing, connection).during("a query over what is loaded", () ->
                    connection.query("SELECT count(*), to_hex(checksum(comment)), max(shipinstruct) FROM resumed"));
        }
    }

    /**
     * A cache worker that is killed and started again meanwhile: what it owns waits for it.
     */
    @Test(groups = "restarts")
    public void testOwnerIsAway()
            throws Exception
    {
        create("waiting", "ORC", 2);
        try (SqlConnection connection = testing.connect("cachedhive", "preload")) {
            long fileBytes = lengths(connection, "waiting", "%").values().stream().mapToLong(Long::longValue).sum();
            beginSlowly(connection, "waiting", "waiting");
            for (ClusterNode worker : testing.cluster().cacheWorkers()) {
                worker.kill();
            }
            // nobody is left to load anything: the job knows by now
            long loaded = fetchedAtRest(connection, "waiting");
            assertThat(state(connection, "waiting")).isEqualTo("RUNNING");
            for (ClusterNode worker : testing.cluster().cacheWorkers()) {
                worker.start();
            }
            Await.until("the job has ended", TIMEOUT, QUERY_PAUSE, () -> !state(connection, "waiting").equals("RUNNING"));
            assertThat(connection.query("SELECT state, done_bytes, remaining_bytes, failed_bytes, fetched_bytes > %s, problem IS NULL FROM cache.preloads WHERE job = 'waiting'"
                    .formatted(loaded)).rows()).containsExactly(List.of("FINISHED", fileBytes, 0L, 0L, true, true));
        }
    }

    /**
     * Fetched bytes of a job once they have not grown for two seconds.
     */
    private static long fetchedAtRest(SqlConnection connection, String job)
            throws Exception
    {
        String query = "SELECT fetched_bytes FROM cache.preloads WHERE job = '%s'".formatted(job);
        long[] last = {(long) connection.query(query).onlyValue()};
        long[] since = {System.nanoTime()};
        Await.until("nothing is fetched any more", TIMEOUT, QUERY_PAUSE, () -> {
            long now = (long) connection.query(query).onlyValue();
            if (now != last[0]) {
                last[0] = now;
                since[0] = System.nanoTime();
            }
            return System.nanoTime() - since[0] > Duration.ofSeconds(2).toNanos();
        });
        return last[0];
    }

    /**
     * @param sample only every so many orders are in it
     */
    private void create(String table, String format, int sample)
            throws SQLException
    {
        try (SqlConnection connection = testing.connect("hive", "preload")) {
            // one file for each partition, and long ones
            connection.setSession("task_max_writer_count", "1");
            connection.setSession("task_min_writer_count", "1");
            connection.setSession("scale_writers", "false");
            connection.setSession("task_scale_writers_enabled", "false");
            connection.setSession("hive.compression_codec", "NONE");
            connection.query(
                    """
                    CREATE TABLE %s WITH (format = '%s', partitioned_by = ARRAY['part']) AS
                    SELECT *, if(orderkey %% 8 = 0, 'small', 'big') AS part FROM tpch."sf0.1".lineitem
                    WHERE orderkey / 32 %% %s = 0
                    """.formatted(table, format, sample));
        }
    }

    private static Map<String, Long> lengths(SqlConnection connection, String table, String part)
            throws SQLException
    {
        return connection.query("SELECT DISTINCT \"$path\", \"$file_size\" FROM hive.preload.%s WHERE part LIKE '%s'".formatted(table, part)).rows().stream()
                .collect(Collectors.toMap(row -> ((String) row.get(0)).substring("s3://%s/".formatted(Cluster.BUCKET).length()), row -> (long) row.get(1)));
    }

    /**
     * Begins a preload that lasts long, and returns when some of its bytes are there.
     */
    private static void beginSlowly(SqlConnection connection, String table, String job)
            throws Exception
    {
        connection.query(
                """
                CALL system.preload_table(schema_name => 'preload', table_name => '%s', job => '%s', max_bytes_per_second => 1000000, wait => false)
                """.formatted(table, job));
        Await.until("some is fetched", TIMEOUT, QUERY_PAUSE, () ->
                (boolean) connection.query("SELECT fetched_bytes > 1500000 FROM cache.preloads WHERE job = '%s'".formatted(job)).onlyValue());
        assertThat(state(connection, job)).isEqualTo("RUNNING");
    }

    private static String state(SqlConnection connection, String job)
            throws SQLException
    {
        return (String) connection.query("SELECT state FROM cache.preloads WHERE job = '%s'".formatted(job)).onlyValue();
    }

    private long mark()
    {
        return testing.cluster().s3().log().mark();
    }
}
