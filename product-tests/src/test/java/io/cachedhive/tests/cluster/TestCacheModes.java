package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.QueryResult;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;

import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The switch of the catalog on a real cluster, from one mode to the next without a restart.
 */
@UsesCluster(SharedCluster.TWO_HOSTS)
@Test(groups = "modes", singleThreaded = true)
public class TestCacheModes
{
    private static final String CATALOG = SharedCluster.SHADOW;
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final int QUERIES = 5;
    private static final String QUERY = "SELECT count(*), to_hex(checksum(comment)), sum(orderkey) FROM %s.modes.%s";
    private static final String USED = "SELECT sum(ram_used_bytes), sum(ssd_used_bytes) FROM cache.stats";

    private TestingCluster testing;
    private SqlConnection connection;
    private List<List<Object>> expected;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.TWO_HOSTS.get();
        connection = testing.connect(CATALOG, "default");
        connection.query("CREATE SCHEMA modes");
        for (String table : List.of("first", "second")) {
            connection.query("CREATE TABLE modes.%s WITH (format = 'ORC') AS SELECT * FROM tpch.\"sf0.1\".orders".formatted(table));
        }
        expected = connection.query(QUERY.formatted("hive", "first")).rows();
    }

    @AfterClass(alwaysRun = true)
    public void stop()
            throws Exception
    {
        if (connection != null) {
            connection.close();
        }
    }

    @Test
    public void testShadow()
            throws Exception
    {
        DataFileGets plain = gets("hive", "first");
        List<List<Object>> used = Counters.rowsAtRest(connection, USED);
        Counters before = Counters.atRest(connection, CATALOG);
        long sizedBefore = sizedBytes();
        for (int i = 0; i < 2; i++) {
            assertThat(gets(CATALOG, "first").bytes()).as("bytes of a query").isEqualTo(plain.bytes());
        }
        Counters counted = Counters.atRest(connection, CATALOG).minus(before);
        assertThat(counted.bypass()).isPositive().isEqualTo(counted.requested());
        assertThat(Counters.rowsAtRest(connection, "SELECT sum(element_at(bypass_bytes_by_cause, 'shadow')) FROM cache.stats_detail"))
                .containsExactly(List.of(counted.bypass()));
        assertThat(Counters.rowsAtRest(connection, USED)).as("bytes in the cache").isEqualTo(used);
        // blocks count whole, and once for each reader
        Await.until("cache.sizing contains what was read", TIMEOUT, QUERY_PAUSE, () -> sizedBytes() - sizedBefore >= counted.bypass() / 2);
        assertThat(Counters.rowsAtRest(connection, "SELECT DISTINCT problem FROM cache.stats")).containsExactly(List.of(
                "catalog %s is read without the cache, because its mode is SHADOW: change cachedhive.mode, or CALL system.set_cache_mode('ON')".formatted(CATALOG)));
        assertThatThrownBy(() -> connection.query("CALL system.preload_table('modes', 'first')")).hasMessageContaining("its mode is SHADOW");
    }

    private long sizedBytes()
            throws Exception
    {
        return ((Number) connection.query("SELECT requested_bytes FROM cache.sizing WHERE capacity_multiple = 1").onlyValue()).longValue();
    }

    @Test(dependsOnMethods = "testShadow")
    public void testReadOnly()
            throws Exception
    {
        setMode("on");
        testing.awaitRing(CATALOG);
        Await.until("the first table is cached", TIMEOUT, QUERY_PAUSE, () -> gets(CATALOG, "first").count() == 0);
        setMode("READ_ONLY");
        List<List<Object>> used = Counters.rowsAtRest(connection, USED);
        AtomicReference<Counters> atStart = new AtomicReference<>();
        new NoOriginReads(testing, connection, CATALOG).during("a query over what is cached", () -> {
            atStart.set(Counters.atRest(connection, CATALOG));
            gets(CATALOG, "first");
        });
        Counters before = atStart.get();
        Counters hits = Counters.atRest(connection, CATALOG).minus(before);
        assertThat(hits.hits()).isPositive().isEqualTo(hits.requested());

        for (int i = 0; i < 2; i++) {
            assertThat(gets(CATALOG, "second").count()).as("GETs of what is not cached").isPositive();
        }
        Counters missed = Counters.atRest(connection, CATALOG).minus(before).minus(hits);
        assertThat(missed.bypass()).isPositive().isEqualTo(missed.requested());
        assertThat(Counters.rowsAtRest(connection, USED)).as("bytes in the cache").isEqualTo(used);
        setMode("DEFAULT");
        assertThat(gets(CATALOG, "first").count()).as("GETs in the catalog's mode").isPositive();
        assertThatThrownBy(() -> setMode("away")).hasMessageContaining("mode is none of ON, READ_ONLY, SHADOW, OFF, DEFAULT: away");
    }

    @Test(dependsOnMethods = "testReadOnly")
    public void testOffBesideStoppedWorkers()
            throws Exception
    {
        setMode("ON");
        DataFileGets plain = gets("hive", "first");
        try (SqlConnection own = testing.connect(CATALOG, "modes");
                QueryLoop loop = QueryLoop.start(() -> {
                    assertThat(own.query(QUERY.formatted(CATALOG, "first")).rows()).isEqualTo(expected);
                    return null;
                })) {
            Await.until("queries run", TIMEOUT, () -> loop.queries() > 0);
            signal("STOP");
            try {
                long before = loop.queries();
                // by what is in shared memory, without asking them
                Await.until("queries run beside stopped cache workers", TIMEOUT.multipliedBy(2), () -> loop.queries() >= before + 2);
                // no query is under way: the next one is off
                Counters counted = beside(loop, () -> {
                    setMode("OFF");
                    return testing.jmxCounters(CATALOG);
                });
                long queries = loop.queries();
                Await.until("queries run while the cache is off", TIMEOUT, () -> loop.queries() >= queries + QUERIES);
                compareWithHive(loop);
                assertThat(beside(loop, () -> testing.jmxCounters(CATALOG))).as("what the cache's client counted, and told").isEqualTo(counted);
                assertThat(beside(loop, () -> gets(CATALOG, "first"))).as("GETs of a query").isEqualTo(plain);
            }
            finally {
                signal("CONT");
            }
            setMode("ON");
            Await.until("the cache serves again", TIMEOUT, QUERY_PAUSE, () -> beside(loop, () -> gets(CATALOG, "first")).count() == 0);
            loop.check();
        }
    }

    /**
     * The same queries in turn, each over both catalogs, the one that was second before the first now. How much they differ is printed and not judged: it takes
     * more of them, on a quiet machine, which {@code -Dcachedhive.test.pairs=31} is for.
     */
    private void compareWithHive(QueryLoop loop)
            throws Exception
    {
        beside(loop, () -> {
            int pairs = Integer.getInteger("cachedhive.test.pairs", QUERIES);
            double[] ratios = new double[pairs];
            long[] cpuMillis = new long[2];
            long[] wallMillis = new long[2];
            for (int pair = 0; pair < pairs; pair++) {
                long[] cpuOfPair = new long[2];
                for (int turn = 0; turn < 2; turn++) {
                    int catalog = (pair + turn) % 2;
                    QueryResult result = connection.query(QUERY.formatted(catalog == 0 ? "hive" : CATALOG, "first"));
                    assertThat(result.rows()).isEqualTo(expected);
                    wallMillis[catalog] += result.elapsedMillis();
                    cpuOfPair[catalog] = ((Number) connection.query("SELECT sum(split_cpu_time_ms) FROM system.runtime.tasks WHERE query_id = '%s'"
                            .formatted(result.queryId().orElseThrow())).onlyValue()).longValue();
                    cpuMillis[catalog] += cpuOfPair[catalog];
                }
                ratios[pair] = (double) cpuOfPair[1] / cpuOfPair[0];
            }
            Arrays.sort(ratios);
            System.out.printf(
                    Locale.ROOT,
                    "OFF beside stopped cache workers, %s pairs: CPU %s ms, of plain Hive %s ms; ratio %.3f, of pairs %.3f (quartiles %.3f to %.3f); wall %s ms and %s ms%n",
                    pairs,
                    cpuMillis[1],
                    cpuMillis[0],
                    (double) cpuMillis[1] / cpuMillis[0],
                    ratios[pairs / 2],
                    ratios[pairs / 4],
                    ratios[3 * pairs / 4],
                    wallMillis[1],
                    wallMillis[0]);
            return null;
        });
    }

    private interface Action<T>
    {
        T run()
                throws Exception;
    }

    private static <T> T beside(QueryLoop loop, Action<T> action)
            throws Exception
    {
        return loop.beside(action::run);
    }

    private void setMode(String mode)
            throws SQLException
    {
        connection.query("CALL system.set_cache_mode('%s')".formatted(mode));
    }

    private DataFileGets gets(String catalog, String table)
            throws SQLException
    {
        long mark = testing.cluster().s3().log().mark();
        assertThat(connection.query(QUERY.formatted(catalog, table)).rows()).isEqualTo(expected);
        return DataFileGets.since(testing.cluster().s3(), mark, "warehouse/modes/" + table);
    }

    private void signal(String name)
            throws Exception
    {
        for (ClusterNode worker : testing.cluster().cacheWorkers()) {
            assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(worker.pid())).inheritIO().start().waitFor()).isZero();
        }
    }
}
