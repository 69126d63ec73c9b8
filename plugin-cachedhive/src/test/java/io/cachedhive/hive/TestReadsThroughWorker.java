package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Usage;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.trino.Session;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.spi.security.Identity;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import io.trino.testing.TestingAccessControlManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import javax.management.JMException;
import javax.management.ObjectName;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingAccessControlManager.TestingPrivilegeType.SELECT_COLUMN;
import static io.trino.testing.TestingAccessControlManager.privilege;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two Trino nodes and a cache worker on one host.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestReadsThroughWorker
{
    private static final List<String> SOURCES = List.of(
            CounterNames.RAM_HIT_BYTES,
            CounterNames.SSD_HIT_BYTES,
            CounterNames.NON_LOCAL_HIT_BYTES,
            CounterNames.REMOTE_READ_BYTES,
            CounterNames.BYPASS_BYTES);

    private S3Server s3;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        s3 = S3Server.builder().bucket("lake").start();
        worker = new TestingCacheWorker(directory, s3.clientProperties());
        worker.start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(1)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(PatientReaders.plugin());
        Map<String, String> hive = ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("hive.security", "allow-all")
                .put("fs.s3.enabled", "true")
                .buildOrThrow();
        queryRunner.createCatalog("hive", "hive", hive);
        queryRunner.createCatalog("cachedhive", "cachedhive", ImmutableMap.<String, String>builder()
                .putAll(hive)
                .putAll(worker.catalogProperties())
                .buildOrThrow());
        queryRunner.createCatalog("verifying", "cachedhive", ImmutableMap.<String, String>builder()
                .putAll(hive)
                .putAll(worker.catalogProperties())
                .put("cachedhive.verify-sample-ratio", "1")
                .buildOrThrow());
        queryRunner.execute("CREATE SCHEMA hive.s");
        awaitWell();
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, worker, s3);
    }

    private void awaitWell()
    {
        await("problem of the cache worker", () -> getOnlyElement(queryRunner.execute("SELECT problem FROM cachedhive.cache.stats")).getField(0), problem -> problem == null);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORC", "PARQUET", "TEXTFILE", "JSON", "OPENX_JSON", "AVRO", "RCTEXT", "RCBINARY", "SEQUENCEFILE", "CSV"})
    void testFormat(String format)
    {
        String table = "orders_" + format.toLowerCase(Locale.ROOT);
        queryRunner.execute(("CREATE TABLE hive.s.%s WITH (format = '%s') AS "
                + "SELECT cast(orderkey AS varchar) orderkey, cast(comment AS varchar) comment, cast(custkey AS varchar) custkey FROM tpch.tiny.orders").formatted(table, format));
        String query = "SELECT orderkey, comment, custkey FROM %s.s." + table + " ORDER BY orderkey";
        List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();

        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);

        long plainHeads = dataFileRequests(() -> queryRunner.execute(query.formatted("hive"))).heads();
        awaitWarm(query.formatted("cachedhive"), plainHeads);
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);

        String plan = explain("SELECT max(comment) FROM cachedhive.s." + table);
        long requested = metric(plan, CounterNames.REQUESTED_BYTES);
        assertThat(requested).isPositive();
        assertThat(SOURCES.stream().mapToLong(source -> metric(plan, source)).sum()).as(plan).isEqualTo(requested);
        assertThat(metric(plan, CounterNames.RAM_HIT_BYTES)).as(plan).isEqualTo(requested);
    }

    /**
     * A file that was just written is kept only when the worker has confirmed that it did not change within its second.
     */
    private void awaitWarm(String query, long allowedHeads)
    {
        await("requests of " + query, () -> dataFileRequests(() -> queryRunner.execute(query)), counts -> counts.gets() == 0 && counts.heads() <= allowedHeads);
    }

    private S3RequestCounts dataFileRequests(Runnable action)
    {
        long mark = s3.log().mark();
        action.run();
        return S3RequestCounts.ofDataFiles(s3.log().since(mark));
    }

    private String explain(String query)
    {
        return (String) queryRunner.execute("EXPLAIN ANALYZE VERBOSE " + query).getOnlyValue();
    }

    private static long metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        assertThat(matcher.find()).as(name + " in " + plan).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    @Test
    void testTablesAndBeansAgree()
    {
        queryRunner.execute("CREATE TABLE hive.s.agree WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.lineitem");
        // as long as the file may still be overwritten unseen, it is fetched for every query
        await(
                "a hit",
                () -> {
                    queryRunner.execute("SELECT count(DISTINCT comment) FROM cachedhive.s.agree");
                    return beans("RamHitBytes") + beans("SsdHitBytes");
                },
                hits -> hits > 0);

        String names = "requests, ram_hit_bytes, ssd_hit_bytes, non_local_hit_bytes, remote_read_bytes, bypass_bytes";
        List<String> attributes = List.of("Requests", "RamHitBytes", "SsdHitBytes", "NonLocalHitBytes", "RemoteReadBytes", "BypassBytes");
        await(
                "table against beans",
                () -> {
                    List<Object> table = getOnlyElement(queryRunner.execute("SELECT %s FROM cachedhive.cache.stats".formatted(names))).getFields();
                    return Map.of("table", table, "beans", attributes.stream().map(TestReadsThroughWorker::beans).toList());
                },
                both -> both.get("table").equals(both.get("beans")));

        // the names of RubiX, which have values of their own only where there is a cache worker
        assertThat(beans("CachedReads")).isPositive();
        assertThat(beans("RemoteReads")).isPositive();
        assertThat(beans("ReadFromCache")).isPositive().isEqualTo(beans("RamHitBytes") + beans("SsdHitBytes"));
        assertThat(beans("ReadFromRemote")).isPositive().isEqualTo(beans("RemoteReadBytes"));
        assertThat(rates("HitRate")).isNotEmpty().allSatisfy(rate -> assertThat(rate).isBetween(Double.MIN_VALUE, 1.0));
        assertThat(rates("MissRate")).containsExactlyElementsOf(rates("HitRate").stream().map(rate -> 1 - rate).toList());

        MaterializedRow row = getOnlyElement(queryRunner.execute(
                """
                SELECT state, problem, hit_rate, since < now(), requested_bytes,
                    ram_hit_bytes + ssd_hit_bytes + non_local_hit_bytes + remote_read_bytes + bypass_bytes, ram_used_bytes, ram_capacity_bytes,
                    expired_blocks + ssd_writes_rejected_not_admitted + ssd_writes_rejected_queue_full + ssd_writes_rejected_offline + ssd_writes_rejected_no_space
                FROM cachedhive.cache.stats JOIN cachedhive.cache.stats_detail USING (node_id)
                """));
        assertThat(row.getField(0)).isEqualTo("RUNNING");
        assertThat(row.getField(1)).isNull();
        assertThat((double) row.getField(2)).isPositive().isLessThanOrEqualTo(1.0);
        assertThat(row.getField(3)).isEqualTo(true);
        assertThat((long) row.getField(4)).isPositive().isEqualTo(row.getField(5));
        assertThat((long) row.getField(6)).isPositive().isLessThanOrEqualTo((long) row.getField(7));
        assertThat(row.getField(8)).isEqualTo(0L);

        row = getOnlyElement(queryRunner.execute("SELECT address, version, weight, ring_share, state FROM cachedhive.cache.nodes WHERE epoch IS NOT NULL AND uptime_seconds > 0"));
        assertThat(row.getField(0)).isEqualTo("127.0.0.1:" + worker.port());
        assertThat(row.getField(1)).isEqualTo("test");
        assertThat((long) row.getField(2)).isPositive();
        assertThat(row.getField(3)).isEqualTo(1.0);
        assertThat(row.getField(4)).isEqualTo("RUNNING");
    }

    /**
     * The tables of a cache worker come in several pages, and each table is in one of them.
     */
    @Test
    void testTablesOfManyPages()
    {
        int tables = 5000;
        for (int first = 0; first < tables; first += 1000) {
            Map<String, Map<String, Long>> counters = new HashMap<>();
            for (int i = first; i < first + 1000; i++) {
                counters.put("many.table_with_a_name_that_is_rather_long_%05d".formatted(i), Map.of(CounterNames.REQUESTS, i + 1L));
            }
            worker.count("verifying", new Usage(new Digest128(77, 77), first / 1000 + 1, counters, List.of()));
        }
        assertThat(worker.pagesOfTables("verifying")).isGreaterThanOrEqualTo(3);
        assertThat(getOnlyElement(queryRunner.execute(
                "SELECT count(*), count(DISTINCT table_name), sum(requests), min(requests), max(requests) FROM verifying.cache.tables WHERE schema_name = 'many'")).getFields())
                .containsExactly((long) tables, (long) tables, tables * (tables + 1L) / 2, 1L, (long) tables);
        assertThat((long) queryRunner.execute("SELECT requests FROM verifying.cache.stats").getOnlyValue()).isGreaterThanOrEqualTo(tables * (tables + 1L) / 2);
    }

    @Test
    void testSizing()
    {
        queryRunner.execute("CREATE TABLE hive.s.sized WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.lineitem");
        awaitWarm("SELECT count(DISTINCT comment) FROM cachedhive.s.sized", 0);
        // what was read from shared memory is told a moment later
        await(
                "predicted hits",
                () -> (double) queryRunner.execute("SELECT predicted_hit_rate FROM cachedhive.cache.sizing WHERE capacity_multiple = 1").getOnlyValue(),
                rate -> rate > 0 && rate <= 1);

        List<MaterializedRow> rows = queryRunner.execute(
                """
                SELECT capacity_multiple, capacity_bytes / capacity_multiple - max(capacity_bytes) OVER () / 16, predicted_hit_rate, verdict, nodes,
                    requested_bytes > distinct_bytes AND distinct_bytes > 0
                FROM cachedhive.cache.sizing
                ORDER BY capacity_multiple
                """).getMaterializedRows();
        assertThat(rows).extracting(row -> row.getField(0)).containsExactly(0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0);
        assertThat(rows).allSatisfy(row -> {
            assertThat((double) row.getField(1)).isBetween(-1.0, 1.0);
            assertThat((double) row.getField(2)).isBetween(0.0, 1.0);
            assertThat((String) row.getField(3)).isIn(null, "unsuitable", "too small", "right-sized");
            assertThat(row.getField(4)).isEqualTo(1L);
            assertThat(row.getField(5)).isEqualTo(true);
        });
        // all fits
        assertThat(rows.getLast().getField(2)).isEqualTo(rows.get(5).getField(2));
        assertThat(queryRunner.execute(
                """
                SELECT capacity_bytes / 100 = ssd_capacity_bytes / 100
                FROM cachedhive.cache.sizing CROSS JOIN cachedhive.cache.stats_detail
                WHERE capacity_multiple = 1
                """).getOnlyValue()).isEqualTo(true);
    }

    @Test
    void testHitsAreVerified()
    {
        queryRunner.execute("CREATE TABLE hive.s.verified WITH (format = 'PARQUET') AS SELECT * FROM tpch.tiny.part");
        String query = "SELECT count(DISTINCT comment) FROM verifying.s.verified";
        await(
                "verified bytes",
                () -> {
                    queryRunner.execute(query);
                    return (long) queryRunner.execute("SELECT verified_bytes FROM verifying.cache.stats_detail").getOnlyValue();
                },
                bytes -> bytes > 0);
        assertThat(getOnlyElement(queryRunner.execute("SELECT verify_mismatches, quarantined_files FROM verifying.cache.stats_detail")).getFields()).containsExactly(0L, 0L);
        assertThat(queryRunner.execute("SELECT ram_hit_bytes + ssd_hit_bytes >= verified_bytes "
                + "FROM verifying.cache.stats JOIN verifying.cache.stats_detail USING (node_id)").getOnlyValue()).isEqualTo(true);
    }

    @Test
    void testSpansOfMisses()
    {
        queryRunner.execute("CREATE TABLE hive.s.traced WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.customer");
        String query = "SELECT count(DISTINCT comment), count(DISTINCT name) FROM cachedhive.s.traced";
        List<SpanData> misses = missesOf(query);
        assertThat(misses).isNotEmpty().allSatisfy(span -> {
            assertThat(span.getAttributes().get(AttributeKey.stringKey("trino.file.location"))).startsWith("s3://lake/warehouse/");
            assertThat(span.getAttributes().get(AttributeKey.stringKey("cachedhive.table"))).isEqualTo("s.traced");
            assertThat(span.getAttributes().get(AttributeKey.longKey("trino.file.read_size"))).isPositive();
            assertThat(span.getAttributes().get(AttributeKey.longKey("cachedhive.remote_read_bytes"))).isPositive();
            assertThat(span.getEndEpochNanos()).isGreaterThan(span.getStartEpochNanos());
            // it is part of the query's trace
            assertThat(span.getParentSpanContext().isValid()).isTrue();
        });
        awaitWarm(query, 0);
        assertThat(missesOf(query)).isEmpty();
    }

    private List<SpanData> missesOf(String query)
    {
        // those of the last query only
        queryRunner.execute(query);
        return queryRunner.getSpans().stream().filter(span -> span.getName().equals("cachedhive.miss")).toList();
    }

    /**
     * The rates of the nodes that have read.
     */
    private static List<Double> rates(String attribute)
    {
        try {
            List<Double> rates = new ArrayList<>();
            for (ObjectName bean : ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("cachedhive:name=cachedhive,type=stats,*"), null)) {
                if ((long) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, "Requests") > 0) {
                    rates.add((double) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, attribute));
                }
            }
            return rates;
        }
        catch (JMException e) {
            throw new AssertionError(e);
        }
    }

    private static long beans(String attribute)
    {
        try {
            long sum = 0;
            for (ObjectName bean : ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("cachedhive:name=cachedhive,type=stats,*"), null)) {
                sum += (long) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, attribute);
            }
            return sum;
        }
        catch (JMException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void testPreload()
    {
        queryRunner.execute("CREATE TABLE hive.s.preloaded WITH (format = 'PARQUET', partitioned_by = ARRAY['linestatus', 'returnflag']) AS "
                + "SELECT orderkey, comment, linestatus, returnflag FROM tpch.tiny.lineitem");
        long bytes = (long) queryRunner.execute(
                "SELECT sum(size) FROM (SELECT max(\"$file_size\") size FROM hive.s.preloaded WHERE returnflag = 'R' GROUP BY \"$path\")").getOnlyValue();

        queryRunner.execute("CALL cachedhive.system.preload_partition('s', 'preloaded', ARRAY['RETURNFLAG'], ARRAY['R'])");
        MaterializedRow job = getOnlyElement(queryRunner.execute(
                "SELECT state, partition, done_bytes, remaining_bytes, failed_bytes, ended >= started, problem FROM cachedhive.cache.preloads WHERE table_name = 'preloaded'"));
        assertThat(job.getFields().subList(0, 6)).containsExactly("FINISHED", "returnflag=R", bytes, 0L, 0L, true);
        assertThat(job.getField(6)).isNull();

        String query = "SELECT count(DISTINCT comment) FROM cachedhive.s.preloaded WHERE returnflag = ";
        assertThat(dataFileRequests(() -> queryRunner.execute(query + "'R'")).gets()).isZero();
        assertThat(dataFileRequests(() -> queryRunner.execute(query + "'A'")).gets()).isPositive();

        queryRunner.execute("CALL cachedhive.system.preload_partition(schema_name => 's', table_name => 'preloaded', "
                + "partition_columns => ARRAY['linestatus', 'returnflag'], partition_values => ARRAY['O', 'N'])");
        assertThat(dataFileRequests(() -> queryRunner.execute(query + "'N' AND linestatus = 'O'")).gets()).isZero();
    }

    @Test
    void testPreloadIsForThoseWhoMaySelect()
    {
        queryRunner.execute("CREATE TABLE hive.s.secret WITH (format = 'ORC', partitioned_by = ARRAY['regionkey']) AS SELECT name, comment, regionkey FROM tpch.tiny.nation");
        String jobs = "SELECT job, columns FROM %s.cache.preloads WHERE table_name = 'secret'";
        Session nobody = Session.builder(queryRunner.getDefaultSession()).setIdentity(Identity.ofUser("nobody")).build();
        TestingAccessControlManager accessControl = queryRunner.getAccessControl();
        accessControl.deny(privilege("nobody", "secret.comment", SELECT_COLUMN));
        try {
            assertThatThrownBy(() -> queryRunner.execute(nobody, "CALL cachedhive.system.preload_table('s', 'secret')"))
                    .hasMessageContaining("Access Denied: Cannot select from columns");
            assertThatThrownBy(() -> queryRunner.execute(nobody, "CALL cachedhive.system.preload_table('s', 'secret', ARRAY['name', 'comment'])"))
                    .hasMessageContaining("Access Denied: Cannot select from columns");
            queryRunner.execute(nobody, "CALL cachedhive.system.preload_table('s', 'secret', ARRAY['name'], false, 'names')");
            assertThat(queryRunner.execute(nobody, jobs.formatted("cachedhive")).getMaterializedRows())
                    .extracting(MaterializedRow::getFields)
                    .containsExactly(List.of("names", "name"));

            accessControl.deny(privilege("nobody", "secret", SELECT_COLUMN));
            assertThatThrownBy(() -> queryRunner.execute(nobody, "CALL cachedhive.system.preload_table('s', 'secret', ARRAY['name'])"))
                    .hasMessageContaining("Access Denied: Cannot select from columns [name]");
            assertThatThrownBy(() -> queryRunner.execute(nobody, "CALL cachedhive.system.cancel_preload('names')"))
                    .hasMessageContaining("Access Denied: Cannot select from");
            assertThat(queryRunner.execute(nobody, jobs.formatted("cachedhive")).getMaterializedRows()).isEmpty();
            assertThat(queryRunner.execute(jobs.formatted("cachedhive")).getMaterializedRows()).hasSize(1);
        }
        finally {
            accessControl.reset();
        }
    }

    /**
     * The cache worker runs, and the catalog has another path for its socket.
     */
    @Test
    void testNodesWithoutTheSocketAreReported(@TempDir Path directory)
    {
        queryRunner.createCatalog("no_socket", "cachedhive", ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("fs.s3.enabled", "true")
                .put("cachedhive.worker.socket-path", directory.resolve("nobody.sock").toString())
                .put("cachedhive.worker.port", Integer.toString(worker.port()))
                .put("cachedhive.shared-secret", TestingCacheWorker.SECRET)
                .buildOrThrow());
        await(
                "the problem",
                () -> (String) queryRunner.execute("SELECT problem FROM no_socket.cache.stats").getOnlyValue(),
                problem -> problem != null && problem.matches("Trino node \\S+ cannot use the cache worker of its host: no cache worker serves on .*nobody.sock .*"));
        assertThat(queryRunner.execute("SELECT problem FROM cachedhive.cache.stats").getOnlyValue()).isNull();
    }

    /**
     * The cache worker has one problem, and the catalog another with that cache worker.
     */
    @Test
    void testProblemOfTheCatalogComesFirst()
    {
        queryRunner.createCatalog("missing_origin", "cachedhive", ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("fs.s3.enabled", "true")
                .put("cachedhive.origin", "missing")
                .putAll(worker.catalogProperties())
                .buildOrThrow());
        worker.originFails("lake");
        try {
            await(
                    "the problem",
                    () -> (String) queryRunner.execute("SELECT problem FROM missing_origin.cache.stats").getOnlyValue(),
                    problem -> problem != null && problem.contains("has no origin missing"));
            assertThat((String) queryRunner.execute("SELECT problem FROM cachedhive.cache.stats").getOnlyValue()).startsWith("origin default fails");
        }
        finally {
            worker.originAnswers("lake");
        }
    }

    @Test
    void testWorkerGoesAndComesBack()
    {
        queryRunner.execute("CREATE TABLE hive.s.away WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
        String query = "SELECT orderkey, comment FROM cachedhive.s.away ORDER BY orderkey";
        List<MaterializedRow> expected = queryRunner.execute(query).getMaterializedRows();
        awaitWarm(query, 0);

        worker.close();
        try {
            assertThat(queryRunner.execute(query).getMaterializedRows()).isEqualTo(expected);
            // the memory of a cache worker that has ended may be read for a second
            await("bypass", () -> explain(query), plan -> metric(plan, CounterNames.BYPASS_BYTES) == metric(plan, CounterNames.REQUESTED_BYTES));
            await(
                    "state",
                    () -> getOnlyElement(queryRunner.execute("SELECT state, problem FROM cachedhive.cache.stats")),
                    row -> row.getField(0).equals("UNREACHABLE") && row.getField(1) != null);

            // it waits for the worker
            queryRunner.execute("CALL cachedhive.system.preload_partition(schema_name => 's', table_name => 'away', job => 'away', wait => false)");
        }
        finally {
            worker.start();
        }
        await(
                "preload",
                () -> getOnlyElement(queryRunner.execute(
                        """
                        SELECT state, done_bytes > 0, remaining_bytes, failed_bytes, ended IS NOT NULL, problem
                        FROM cachedhive.cache.preloads
                        WHERE job = 'away'
                        """)).getFields(),
                job -> job.equals(Arrays.asList("FINISHED", true, 0L, 0L, true, null)));
        await("bypassed bytes", () -> metric(explain(query), CounterNames.BYPASS_BYTES), bytes -> bytes == 0);
        // from SSD
        assertThat(dataFileRequests(() -> assertThat(queryRunner.execute(query).getMaterializedRows()).isEqualTo(expected)).gets()).isZero();
        awaitWell();
        assertThat(getOnlyElement(queryRunner.execute("SELECT ring_share FROM cachedhive.cache.nodes")).getField(0)).isEqualTo(1.0);
    }

    private static <T> void await(String what, Supplier<T> supplier, Predicate<T> condition)
    {
        Await.untilAsserted(what, DEADLINE, QUERY_PAUSE, () -> assertThat(supplier.get()).matches(condition));
    }
}
