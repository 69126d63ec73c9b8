package io.cachedhive.tests.cluster;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Every byte that queries ask for comes from one of five sources: of each scan, of each table, and in total, while cache workers and Trino workers are killed; and
 * the rows are those of plain Hive.
 */
@UsesCluster(SharedCluster.FULL)
public class TestBytesBySource
{
    private static final String SEED = "cachedhive.test.seed";
    private static final String SECONDS = "cachedhive.test.mixed-run-seconds";
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    // of a read that is under way, its source may be told before its request is, and a kill between the two loses the rest: one read of the largest buffer
    private static final long MAX_LOST_BYTES = 8 << 20;
    private static final int CLIENTS = 3;
    private static final int KILLS_PER_TRINO_WORKER = 8;
    private static final List<String> FORMATS = List.of("ORC", "PARQUET", "TEXTFILE", "AVRO");
    private static final List<String> STRATEGIES = List.of("SOFT_AFFINITY", "HARD_AFFINITY", "NO_PREFERENCE");
    private static final List<String> SOURCES = List.of(
            CounterNames.RAM_HIT_BYTES,
            CounterNames.SSD_HIT_BYTES,
            CounterNames.NON_LOCAL_HIT_BYTES,
            CounterNames.REMOTE_READ_BYTES,
            CounterNames.BYPASS_BYTES);

    private final AtomicInteger tables = new AtomicInteger();
    private TestingCluster testing;
    private Cluster cluster;
    private volatile boolean end;
    // a query that was under way when one was killed may fail
    private volatile int trinoWorkerKills;
    private volatile boolean trinoWorkerAway;

    // guarded by this
    private final Map<String, Long> requestedByTable = new TreeMap<>();
    private final Map<String, Map<String, Long>> sourcesByTable = new HashMap<>();
    private int queries;
    private int failedQueries;
    private int comparedQueries;

    @BeforeClass(alwaysRun = true)
    public void start()
            throws Exception
    {
        testing = SharedCluster.FULL.get();
        cluster = testing.cluster();
        try (SqlConnection connection = testing.connect("cachedhive", "default")) {
            connection.query("CREATE SCHEMA cachedhive.counts");
            for (String format : FORMATS) {
                connection.query(
                        """
                        CREATE TABLE cachedhive.counts.lines_%s WITH (format = '%s') AS
                        SELECT orderkey, partkey, extendedprice, shipmode, comment FROM tpch."sf0.1".lineitem
                        """.formatted(format.toLowerCase(Locale.ROOT), format));
            }
        }
    }

    @Test(groups = "counts")
    public void testShortRun()
            throws Exception
    {
        run(Duration.ofSeconds(Integer.getInteger(SECONDS, 45)));
    }

    @Test(groups = "counts_long")
    public void testTwentyMinutes()
            throws Exception
    {
        run(Duration.ofSeconds(Integer.getInteger(SECONDS, 1200)));
    }

    private void run(Duration duration)
            throws Exception
    {
        long seed = Long.getLong(SEED, new Random().nextLong());
        System.out.printf("mixed run of %s: -D%s=%s%n", duration, SEED, seed);
        end = false;
        ExecutorService executor = Executors.newCachedThreadPool();
        List<Future<?>> clients = new ArrayList<>();
        int cacheWorkerKills = 0;
        try {
            for (int client = 0; client < CLIENTS; client++) {
                Random random = new Random(seed + client);
                clients.add(executor.submit((Callable<Void>) () -> {
                    runQueries(random);
                    return null;
                }));
            }
            Random random = new Random(seed - 1);
            long begin = System.nanoTime();
            for (int kill = 1; System.nanoTime() - begin < duration.toNanos(); kill++) {
                if (kill % KILLS_PER_TRINO_WORKER == KILLS_PER_TRINO_WORKER / 2) {
                    killTrinoWorker(cluster.workers().get(random.nextInt(cluster.workers().size())));
                }
                else {
                    killCacheWorker(cluster.cacheWorkers().get(random.nextInt(cluster.cacheWorkers().size())), random);
                    cacheWorkerKills++;
                }
                for (Future<?> client : clients) {
                    if (client.isDone()) {
                        client.get();
                    }
                }
            }
            end = true;
            for (Future<?> client : clients) {
                cluster.watching(TIMEOUT, client::get);
            }
        }
        finally {
            end = true;
            executor.shutdownNow();
        }
        check(cacheWorkerKills);
    }

    private void check(int cacheWorkerKills)
            throws Exception
    {
        Counters inTables;
        try (SqlConnection connection = testing.connect("cachedhive", "counts")) {
            inTables = Counters.atRest(connection, "cachedhive");
            assertThat(connection.query(
                    """
                    SELECT sum(ram_hit_bytes + ssd_hit_bytes + non_local_hit_bytes + remote_read_bytes + bypass_bytes)
                    FROM cache.tables
                    """).onlyValue()).as("sum over cache.tables").isEqualTo(inTables.bySource());
        }
        synchronized (this) {
            System.out.printf(
                    "%s queries, %s of them failed, of %s the rows compared; %s kills of cache workers, %s of Trino workers; requested by table %s; by source %s; cache.stats %s%n",
                    queries,
                    failedQueries,
                    comparedQueries,
                    cacheWorkerKills,
                    trinoWorkerKills,
                    requestedByTable,
                    sourcesByTable,
                    inTables);
            assertThat(queries - failedQueries).as("queries that finished").isGreaterThan(CLIENTS);
            assertThat(comparedQueries).as("queries whose rows are those of plain Hive").isPositive();
            assertThat(cacheWorkerKills).isPositive();
            // each scan was compared when its query ended
            requestedByTable.forEach((table, requested) ->
                    assertThat(sourcesByTable.get(table).values().stream().mapToLong(Long::longValue).sum()).as(table).isEqualTo(requested).isPositive());
            assertThat(sourcesByTable.values().stream().mapToLong(sources -> sources.get(CounterNames.RAM_HIT_BYTES) + sources.get(CounterNames.NON_LOCAL_HIT_BYTES)).sum())
                    .as("bytes from the cache").isPositive();
        }
        for (ClusterNode node : Stream.concat(Stream.of(cluster.coordinator()), cluster.workers().stream()).toList()) {
            try (NodeJmx jmx = testing.jmx(node)) {
                Counters counters = jmx.counters("cachedhive");
                assertThat(counters.bySource()).as("%s since it was started: %s", node.name(), counters).isEqualTo(counters.requested());
            }
        }
        assertThat(inTables.bySource()).as("cache.stats: %s", inTables).isPositive().isCloseTo(inTables.requested(), within(MAX_LOST_BYTES));
    }

    private void killCacheWorker(ClusterNode victim, Random random)
            throws Exception
    {
        // these pauses wait for nothing: they say when the kills come, and for how long nobody is there
        Thread.sleep(1000 + random.nextInt(3000));
        victim.kill();
        Thread.sleep(random.nextInt(3000));
        victim.start();
        victim.awaitReady();
    }

    private void killTrinoWorker(ClusterNode victim)
    {
        trinoWorkerAway = true;
        trinoWorkerKills++;
        victim.kill();
        victim.start();
        victim.awaitReady();
        cluster.awaitWorkers(cluster.workers().size(), TIMEOUT);
        trinoWorkerAway = false;
    }

    private void runQueries(Random random)
            throws Exception
    {
        while (!end) {
            String table = "lines_" + FORMATS.get(random.nextInt(FORMATS.size())).toLowerCase(Locale.ROOT);
            int killsBefore = trinoWorkerKills;
            boolean awayBefore = trinoWorkerAway;
            try (SqlConnection connection = testing.connect("cachedhive", "counts")) {
                connection.setSession("cachedhive.node_selection_strategy", STRATEGIES.get(random.nextInt(STRATEGIES.size())));
                switch (random.nextInt(6)) {
                    case 0 -> query(connection, random, List.of(table), "SELECT count(*), max(comment), sum(CAST(extendedprice AS decimal(38, 2))) FROM " + table);
                    case 1 -> query(connection, random, List.of(table),
                            "SELECT max(shipmode) FROM %s WHERE orderkey BETWEEN %s AND 400000".formatted(table, random.nextInt(400_000)));
                    case 2 -> query(connection, random, List.of(table), "SELECT * FROM %s LIMIT 10".formatted(table));
                    case 3 -> query(
                            connection,
                            random,
                            List.of("lines_orc", "lines_parquet"),
                            "SELECT count(*) FROM lines_orc a JOIN lines_parquet b ON a.orderkey = b.partkey WHERE a.partkey < 2000");
                    case 4 -> query(connection, random, List.of(table), "SELECT shipmode, count(DISTINCT partkey) FROM %s GROUP BY shipmode".formatted(table));
                    default -> writeAndRead(connection, table, random);
                }
            }
            catch (SQLException e) {
                synchronized (this) {
                    queries++;
                    failedQueries++;
                }
                if (!awayBefore && !trinoWorkerAway && trinoWorkerKills == killsBefore) {
                    throw new AssertionError("a query failed though no Trino worker was killed", e);
                }
                // the next one would fail as quickly
                Thread.sleep(1000);
            }
        }
    }

    private void writeAndRead(SqlConnection connection, String table, Random random)
            throws SQLException
    {
        String own = "own_" + tables.incrementAndGet();
        connection.query("CREATE TABLE %s WITH (format = '%s') AS SELECT * FROM %s WHERE orderkey < 50000".formatted(
                own,
                FORMATS.get(random.nextInt(FORMATS.size())),
                table));
        for (int i = 0; i < 2; i++) {
            query(connection, random, List.of(own), "SELECT count(*), max(comment) FROM " + own);
        }
        connection.query("DROP TABLE " + own);
    }

    /**
     * One of two times the counters of the query's scans, the other times its rows.
     */
    private void query(SqlConnection connection, Random random, List<String> tables, String query)
            throws SQLException
    {
        if (random.nextBoolean() && !query.contains("LIMIT")) {
            compareRows(connection, query);
        }
        else {
            compareCounters(connection, tables, query);
        }
    }

    private void compareRows(SqlConnection connection, String query)
            throws SQLException
    {
        List<List<Object>> rows = connection.query(query).rows();
        List<List<Object>> expected;
        try (SqlConnection plain = testing.connect("hive", "counts")) {
            expected = plain.query(query).rows();
        }
        assertThat(rows).as("rows of %s", query).containsExactlyInAnyOrderElementsOf(expected);
        synchronized (this) {
            queries++;
            comparedQueries++;
        }
    }

    private void compareCounters(SqlConnection connection, List<String> tables, String query)
            throws SQLException
    {
        String plan = (String) connection.query("EXPLAIN ANALYZE VERBOSE " + query).onlyValue();
        List<Long> requested = metrics(plan, CounterNames.REQUESTED_BYTES);
        long[] sums = new long[requested.size()];
        Map<String, Long> sources = new TreeMap<>();
        for (String source : SOURCES) {
            List<Long> bytes = metrics(plan, source);
            assertThat(bytes).as("scans with %s in %s", source, plan).hasSameSizeAs(requested);
            for (int scan = 0; scan < sums.length; scan++) {
                sums[scan] += bytes.get(scan);
            }
            sources.put(source, bytes.stream().mapToLong(Long::longValue).sum());
        }
        // a scan none of whose splits was begun has none
        assertThat(requested).as(plan).hasSizeLessThanOrEqualTo(tables.size());
        for (int scan = 0; scan < sums.length; scan++) {
            assertThat(sums[scan]).as("bytes by source of scan %s of %s", scan + 1, plan).isEqualTo(requested.get(scan));
        }
        synchronized (this) {
            queries++;
            String name = String.join(" with ", tables).replaceAll("own_\\d+", "own");
            requestedByTable.merge(name, requested.stream().mapToLong(Long::longValue).sum(), Long::sum);
            Map<String, Long> ofTable = sourcesByTable.computeIfAbsent(name, _ -> new TreeMap<>());
            sources.forEach((source, bytes) -> ofTable.merge(source, bytes, Long::sum));
        }
    }

    private static List<Long> metrics(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        return matcher.results().map(found -> Long.parseLong(found.group(1))).toList();
    }
}
