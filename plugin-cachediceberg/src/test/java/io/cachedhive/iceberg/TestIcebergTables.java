package io.cachedhive.iceberg;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.hive.PatientReaders;
import io.cachedhive.hive.TestingCacheWorker;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.cachedhive.testing.cluster.tpch.TpchQuery;
import io.trino.Session;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import io.trino.tpch.TpchTable;
import org.apache.iceberg.TableMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The Iceberg connector and the same connector with the cache, side by side over the same tables: three Trino nodes and a cache worker on one host.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("conformance")
class TestIcebergTables
{
    private S3Server s3;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;
    private ExternalTables external;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        s3 = S3Server.builder().bucket("lake").start();
        external = new ExternalTables(s3);
        worker = new TestingCacheWorker(directory, s3.clientProperties());
        worker.start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachediceberg").setSchema("s").build())
                .setWorkerCount(2)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        // decimals, so that sums do not depend on the order of rows
        queryRunner.createCatalog("tpch", "tpch", Map.of("tpch.column-naming", "STANDARD", "tpch.double-type-mapping", "DECIMAL"));
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(PatientReaders.plugin());
        queryRunner.installPlugin(new IcebergPlugin());
        queryRunner.installPlugin(PatientIcebergReaders.plugin());
        Map<String, String> lake = ImmutableMap.<String, String>builder()
                .putAll(s3.clientProperties())
                .put("hive.metastore.catalog.dir", "s3://lake/warehouse")
                .put("fs.s3.enabled", "true")
                .buildOrThrow();
        Map<String, String> iceberg = ImmutableMap.<String, String>builder()
                .putAll(lake)
                .put("iceberg.catalog.type", "TESTING_FILE_METASTORE")
                .put("iceberg.register-table-procedure.enabled", "true")
                .buildOrThrow();
        Map<String, String> hive = ImmutableMap.<String, String>builder()
                .putAll(lake)
                .put("hive.metastore", "file")
                .put("hive.security", "allow-all")
                .buildOrThrow();
        Path rules = Files.writeString(directory.resolve("rules.json"),
                """
                {"rules": [
                    {"name": "old", "partitionAge": {"columns": ["d_month"], "min": "1000d"}, "action": "bypass"},
                    {"name": "unpartitioned", "action": "cache"}]}
                """);
        queryRunner.createCatalog("iceberg", "iceberg", iceberg);
        queryRunner.createCatalog("writer", "iceberg", iceberg);
        queryRunner.createCatalog("cachediceberg", "cachediceberg", ImmutableMap.<String, String>builder()
                .putAll(iceberg)
                .putAll(worker.catalogProperties())
                .put("iceberg.hive-catalog-name", "cachedhive")
                .buildOrThrow());
        queryRunner.createCatalog("ruled", "cachediceberg", ImmutableMap.<String, String>builder()
                .putAll(iceberg)
                .putAll(worker.catalogProperties())
                .put("cachedhive.rules-file", rules.toString())
                .buildOrThrow());
        queryRunner.createCatalog("cachedhive", "cachedhive", ImmutableMap.<String, String>builder()
                .putAll(hive)
                .putAll(worker.catalogProperties())
                .put("hive.iceberg-catalog-name", "cachediceberg")
                .buildOrThrow());
        queryRunner.execute("CREATE SCHEMA iceberg.s");
        for (TpchTable<?> table : TpchTable.getTables()) {
            queryRunner.execute("CREATE TABLE iceberg.s.%1$s AS SELECT * FROM tpch.tiny.%1$s".formatted(table.getTableName()));
        }
        Await.until("the cache worker is well", DEADLINE, QUERY_PAUSE, () -> rows("SELECT problem FROM cachediceberg.cache.stats").getFirst().getField(0) == null);
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, worker, external, s3);
    }

    private List<MaterializedRow> rows(String sql)
    {
        return queryRunner.execute(sql).getMaterializedRows();
    }

    private Session session(String catalog)
    {
        return testSessionBuilder().setCatalog(catalog).setSchema("s").build();
    }

    /**
     * Compares all rows with those of plain Iceberg, from the origin and from the cache, and checks that the cache serves all of them in the end.
     *
     * @param query of tables without their catalog
     */
    private void assertSame(String query)
    {
        List<MaterializedRow> expected = queryRunner.execute(session("iceberg"), query).getMaterializedRows();
        awaitWarm(query, expected);
    }

    private void awaitWarm(String query, List<MaterializedRow> expected)
    {
        Await.until("no requests of data and delete files: " + query, DEADLINE, QUERY_PAUSE, () -> {
            long mark = s3.log().mark();
            List<MaterializedRow> rows = queryRunner.execute(session("cachediceberg"), query).getMaterializedRows();
            assertThat(rows).as(query).containsExactlyInAnyOrderElementsOf(expected);
            return dataRequests(mark).isEmpty();
        });
    }

    private List<S3Request> dataRequests(long mark)
    {
        return s3.log().since(mark).stream()
                .filter(request -> request.key().filter(key -> key.contains("/data/") || key.endsWith(".puffin")).isPresent())
                .toList();
    }

    private String metadataLocation(String table)
    {
        return (String) rows("SELECT file FROM iceberg.s.\"%s$metadata_log_entries\" ORDER BY timestamp DESC LIMIT 1".formatted(table)).getFirst().getField(0);
    }

    private void register(String table, TableMetadata metadata)
    {
        String location = metadata.metadataFileLocation();
        String file = location.substring(location.lastIndexOf('/') + 1);
        queryRunner.execute("CALL iceberg.system.register_table('s', '%s', '%s', '%s')".formatted(table, metadata.location(), file));
    }

    private long deleteFiles(String table, String where)
    {
        return (long) rows("SELECT count(*) FROM iceberg.s.\"%s$files\" WHERE %s".formatted(table, where)).getFirst().getField(0);
    }

    @Test
    void testTpch()
    {
        for (TpchQuery query : TpchQuery.all()) {
            assertSame(query.sql());
        }
        awaitCounted("lineitem");
    }

    @Test
    void testMergeOnRead()
    {
        mergeOnRead("PARQUET");
    }

    @Tag("exhaustive")
    @ParameterizedTest
    @ValueSource(strings = {"ORC", "AVRO"})
    void testMergeOnReadOfOtherFormats(String format)
    {
        mergeOnRead(format);
    }

    private void mergeOnRead(String format)
    {
        for (int version : List.of(2, 3)) {
            String table = "merged_%s_%s".formatted(format.toLowerCase(Locale.ROOT), version);
            queryRunner.execute("CREATE TABLE writer.s.%s WITH (format = '%s', format_version = %s) AS SELECT * FROM tpch.tiny.orders".formatted(table, format, version));
            queryRunner.execute("DELETE FROM writer.s.%s WHERE o_orderkey %% 7 = 0".formatted(table));
            queryRunner.execute("UPDATE writer.s.%s SET o_comment = 'updated' WHERE o_orderkey %% 11 = 0".formatted(table));
            queryRunner.execute(("MERGE INTO writer.s.%s t USING tpch.tiny.orders o ON t.o_orderkey = o.o_orderkey AND o.o_custkey %% 13 = 0 "
                    + "WHEN MATCHED THEN UPDATE SET o_clerk = 'merged'").formatted(table));
            // position delete files in version 2, deletion vectors in version 3
            assertThat(deleteFiles(table, "content = 1 AND file_format " + (version == 2 ? "<>" : "=") + " 'PUFFIN'")).as(table).isPositive();
            String query = "SELECT * FROM " + table;
            assertSame(query);
            assertSame("SELECT count(*), count(DISTINCT o_comment) FROM " + table);
            List<MaterializedRow> before = queryRunner.execute(session("cachediceberg"), query).getMaterializedRows();
            queryRunner.execute("ALTER TABLE cachediceberg.s.%s EXECUTE optimize".formatted(table));
            assertThat(deleteFiles(table, "content = 1")).as(table).isZero();
            assertSame(query);
            assertThat(queryRunner.execute(session("cachediceberg"), query).getMaterializedRows()).containsExactlyInAnyOrderElementsOf(before);
        }
    }

    @Test
    void testWritesThroughTheCatalog()
    {
        queryRunner.execute("CREATE TABLE cachediceberg.s.written (k bigint, v varchar)");
        queryRunner.execute("INSERT INTO cachediceberg.s.written SELECT o_orderkey, o_comment FROM tpch.tiny.orders");
        assertSame("SELECT * FROM written");
        queryRunner.execute("DELETE FROM cachediceberg.s.written WHERE k % 3 = 0");
        assertSame("SELECT * FROM written");
        queryRunner.execute("UPDATE cachediceberg.s.written SET v = 'x' WHERE k % 5 = 0");
        assertSame("SELECT * FROM written");
        queryRunner.execute("TRUNCATE TABLE cachediceberg.s.written");
        assertSame("SELECT * FROM written");
        queryRunner.execute("DROP TABLE cachediceberg.s.written");
        assertThat(rows("SHOW TABLES FROM cachediceberg.s LIKE 'written'")).isEmpty();
    }

    @Test
    void testEqualityDeletes()
            throws Exception
    {
        queryRunner.execute("CREATE TABLE writer.s.for_equality AS SELECT * FROM tpch.tiny.orders");
        register("equality", external.withEqualityDeletes(metadataLocation("for_equality"), "o_custkey", LongStream.range(1, 700).boxed().toList()));
        assertThat(deleteFiles("equality", "content = 2")).isPositive();
        assertSame("SELECT * FROM equality");
        assertThat(queryRunner.execute(session("cachediceberg"), "SELECT count(*) FROM equality WHERE o_custkey < 700").getOnlyValue()).isEqualTo(0L);
        queryRunner.execute("ALTER TABLE cachediceberg.s.equality EXECUTE optimize");
        assertSame("SELECT * FROM equality");
    }

    @Test
    void testTimeTravel()
    {
        queryRunner.execute("CREATE TABLE writer.s.travelled AS SELECT n_nationkey, n_name FROM tpch.tiny.nation");
        long first = (long) rows("SELECT snapshot_id FROM iceberg.s.\"travelled$snapshots\" ORDER BY committed_at DESC LIMIT 1").getFirst().getField(0);
        queryRunner.execute("INSERT INTO writer.s.travelled SELECT n_nationkey + 100, n_name FROM tpch.tiny.nation");
        queryRunner.execute("DELETE FROM writer.s.travelled WHERE n_nationkey < 5");
        assertSame("SELECT * FROM travelled");
        assertSame("SELECT * FROM travelled FOR VERSION AS OF " + first);
        assertThat(queryRunner.execute(session("cachediceberg"), "SELECT count(*) FROM travelled FOR VERSION AS OF " + first).getOnlyValue()).isEqualTo(25L);
    }

    @Test
    void testEvolution()
    {
        queryRunner.execute("CREATE TABLE writer.s.evolved (k bigint, d date, gone integer) WITH (partitioning = ARRAY['month(d)'])");
        queryRunner.execute("INSERT INTO writer.s.evolved SELECT o_orderkey, o_orderdate, o_shippriority FROM tpch.tiny.orders WHERE o_orderdate < DATE '1992-06-01'");
        assertSame("SELECT * FROM evolved");
        queryRunner.execute("ALTER TABLE writer.s.evolved ADD COLUMN added varchar");
        queryRunner.execute("ALTER TABLE writer.s.evolved RENAME COLUMN k TO renamed");
        queryRunner.execute("ALTER TABLE writer.s.evolved DROP COLUMN gone");
        queryRunner.execute("ALTER TABLE writer.s.evolved SET PROPERTIES partitioning = ARRAY['year(d)', 'bucket(renamed, 4)']");
        queryRunner.execute("INSERT INTO writer.s.evolved SELECT o_orderkey, o_orderdate, o_comment FROM tpch.tiny.orders WHERE o_orderdate >= DATE '1998-06-01'");
        assertSame("SELECT * FROM evolved");
        assertSame("SELECT added, renamed FROM evolved WHERE d > DATE '1992-02-01'");
        // only partition values: without a data file
        assertSame("SELECT count(*) FROM evolved WHERE d > DATE '1992-02-01'");
    }

    @Test
    void testMaterializedView()
    {
        queryRunner.execute("CREATE MATERIALIZED VIEW cachediceberg.s.view AS SELECT o_custkey, count(*) orders FROM cachediceberg.s.orders GROUP BY o_custkey");
        queryRunner.execute("REFRESH MATERIALIZED VIEW cachediceberg.s.view");
        List<MaterializedRow> expected = rows("SELECT o_custkey, count(*) FROM iceberg.s.orders GROUP BY o_custkey");
        awaitWarm("SELECT * FROM view", expected);
        // counters name the view, not its storage table
        awaitCounted("view");
    }

    /**
     * A moment after the read, the cache worker has its counts.
     */
    private void awaitCounted(String table)
    {
        Await.until(
                "counters of " + table,
                DEADLINE,
                QUERY_PAUSE,
                () -> !rows("SELECT 1 FROM cachediceberg.cache.tables WHERE schema_name = 's' AND table_name = '%s' AND requests > 0".formatted(table)).isEmpty());
    }

    /**
     * Some engines write sizes that are not those of the files. The reader then finds the end of the file by itself, and so it does beside the cache.
     */
    @ParameterizedTest
    @ValueSource(strings = {"PARQUET", "ORC", "AVRO"})
    void testWrongSizes(String format)
            throws Exception
    {
        String table = "sized_" + format.toLowerCase(Locale.ROOT);
        queryRunner.execute("CREATE TABLE writer.s.%s WITH (format = '%s') AS SELECT * FROM tpch.tiny.orders".formatted(table, format));
        int answered = 0;
        for (long change : List.of(-1000L, 1L, 3_000_000L)) {
            String wrong = "%s_%s".formatted(table, change).replace("-", "minus_");
            register(wrong, external.withWrongSizes(metadataLocation(table), change));
            // Trino reads a small Parquet file with one request, and a large one in parts
            for (String threshold : format.equals("PARQUET") ? List.of("0B", "3MB") : List.of("3MB")) {
                for (boolean trust : List.of(true, false)) {
                    Optional<List<MaterializedRow>> plain = read("iceberg", wrong, threshold, trust);
                    // twice: what the first one left behind must not change the second
                    for (int run = 0; run < 2 && plain.isPresent(); run++) {
                        assertThat(read("cachediceberg", wrong, threshold, trust)).as("%s threshold %s trust %s", wrong, threshold, trust).isPresent();
                        assertThat(read("cachediceberg", wrong, threshold, trust).orElseThrow()).containsExactlyInAnyOrderElementsOf(plain.get());
                        answered++;
                    }
                }
            }
        }
        assertThat(answered).as("queries that plain Iceberg answered").isPositive();
    }

    private Optional<List<MaterializedRow>> read(String catalog, String table, String smallFileThreshold, boolean trustSize)
    {
        Session session = Session.builder(session(catalog))
                .setCatalogSessionProperty(catalog, "parquet_small_file_threshold", smallFileThreshold)
                .setCatalogSessionProperty(catalog, "use_file_size_from_metadata", Boolean.toString(trustSize))
                .build();
        try {
            return Optional.of(queryRunner.execute(session, "SELECT * FROM " + table).getMaterializedRows());
        }
        catch (RuntimeException e) {
            if (catalog.equals("iceberg")) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Without the forwarding to Trino's own memory cache, the coordinator would read all metadata for each query.
     */
    @Test
    void testCoordinatorReadsMetadataAsPlainIceberg()
    {
        queryRunner.execute("CREATE TABLE writer.s.described WITH (partitioning = ARRAY['n_regionkey']) AS SELECT * FROM tpch.tiny.nation");
        queryRunner.execute("INSERT INTO writer.s.described SELECT * FROM tpch.tiny.nation");
        String query = "SELECT * FROM described WHERE n_regionkey > 1";
        Map<String, Long> first = metadataRequests("iceberg", query);
        Map<String, Long> second = metadataRequests("iceberg", query);
        assertThat(first).isNotEmpty();
        assertThat(second.values().stream().mapToLong(Long::longValue).sum()).isLessThan(first.values().stream().mapToLong(Long::longValue).sum());
        assertThat(metadataRequests("cachediceberg", query)).isEqualTo(first);
        assertThat(metadataRequests("cachediceberg", query)).isEqualTo(second);
    }

    private Map<String, Long> metadataRequests(String catalog, String query)
    {
        long mark = s3.log().mark();
        queryRunner.execute(session(catalog), query);
        return s3.log().since(mark).stream()
                .filter(request -> request.key().filter(key -> key.contains("/metadata/")).isPresent())
                .collect(groupingBy(request -> request.operation() + " " + request.key().orElseThrow(), TreeMap::new, counting()));
    }

    @Test
    void testBucketedJoin()
    {
        for (String table : List.of("left", "right")) {
            queryRunner.execute("CREATE TABLE writer.s.bucketed_%s WITH (partitioning = ARRAY['bucket(o_orderkey, 8)']) AS SELECT * FROM tpch.tiny.orders".formatted(table));
        }
        String query = "SELECT l.o_orderkey, r.o_comment FROM bucketed_left l JOIN bucketed_right r ON l.o_orderkey = r.o_orderkey";
        String plain = plan("iceberg", query);
        assertThat(plain).contains("iceberg:IcebergPartitioningHandle");
        assertThat(plan("cachediceberg", query).lines().filter(line -> line.contains("Fragment")).toList())
                .isEqualTo(plain.replace("iceberg:", "cachediceberg:").lines().filter(line -> line.contains("Fragment")).toList());
        assertSame(query);
    }

    private String plan(String catalog, String query)
    {
        Session session = Session.builder(session(catalog)).setSystemProperty("join_distribution_type", "PARTITIONED").build();
        return (String) queryRunner.execute(session, "EXPLAIN (TYPE DISTRIBUTED) " + query).getOnlyValue();
    }

    @Test
    void testRulesByPartitionFields()
    {
        queryRunner.execute("CREATE TABLE writer.s.aged (k bigint, d date) WITH (partitioning = ARRAY['month(d)'])");
        queryRunner.execute("INSERT INTO writer.s.aged VALUES (1, DATE '1999-05-05'), (2, current_date)");
        String old = explain("ruled", "SELECT max(k) FROM aged WHERE d = DATE '1999-05-05'");
        assertThat(metric(old, "bypass_bytes_rule")).as(old).isPositive().isEqualTo(metric(old, CounterNames.REQUESTED_BYTES));
        String young = explain("ruled", "SELECT max(k) FROM aged WHERE d > DATE '2020-01-01'");
        assertThat(metric(young, CounterNames.REQUESTED_BYTES)).as(young).isPositive();
        assertThat(young).doesNotContain("bypass_bytes_rule");
    }

    private String explain(String catalog, String query)
    {
        return (String) queryRunner.execute(session(catalog), "EXPLAIN ANALYZE VERBOSE " + query).getOnlyValue();
    }

    private static long metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        assertThat(matcher.find()).as(name + " in " + plan).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    /**
     * OPTIMIZE replaces the files that it reads, so they would only evict others.
     */
    @Test
    void testMaintenanceFillsNothing()
    {
        queryRunner.execute("CREATE TABLE writer.s.maintained AS SELECT * FROM tpch.tiny.orders WHERE o_orderkey < 20000");
        queryRunner.execute("INSERT INTO writer.s.maintained SELECT * FROM tpch.tiny.orders WHERE o_orderkey >= 20000");
        queryRunner.execute("ANALYZE cachediceberg.s.maintained");
        queryRunner.execute("ALTER TABLE cachediceberg.s.maintained EXECUTE optimize");
        String cached = "SELECT count(*) FROM cachediceberg.cache.files WHERE schema_name = 's' AND table_name = 'maintained'";
        assertThat(rows(cached).getFirst().getField(0)).isEqualTo(0L);
        assertSame("SELECT * FROM maintained");
        assertThat((long) rows(cached).getFirst().getField(0)).isPositive();
        assertThat(rows("SELECT count(*) FROM cachediceberg.cache.files WHERE table_name = 'maintained' AND file_modified_time IS NOT NULL").getFirst().getField(0)).isEqualTo(0L);
    }

    @Test
    void testRedirections()
    {
        queryRunner.execute("CREATE TABLE cachedhive.s.of_hive AS SELECT * FROM tpch.tiny.region");
        assertThat(rows("SELECT * FROM cachediceberg.s.of_hive")).containsExactlyInAnyOrderElementsOf(rows("SELECT * FROM tpch.tiny.region"));
        assertThat(rows("SELECT n_name FROM cachedhive.s.nation")).containsExactlyInAnyOrderElementsOf(rows("SELECT n_name FROM iceberg.s.nation"));
        awaitCounted("nation");
    }

    @Test
    void testMetadataTablesAndFunctions()
    {
        queryRunner.execute("CREATE TABLE writer.s.inspected AS SELECT * FROM tpch.tiny.region");
        queryRunner.execute("INSERT INTO writer.s.inspected SELECT * FROM tpch.tiny.region");
        for (String metadata : List.of("files", "snapshots", "manifests", "partitions", "history", "refs", "properties", "all_manifests", "entries", "all_entries")) {
            String query = "SELECT * FROM \"inspected$%s\"".formatted(metadata);
            assertThat(queryRunner.execute(session("cachediceberg"), query).getMaterializedRows()).as(metadata)
                    .containsExactlyInAnyOrderElementsOf(queryRunner.execute(session("iceberg"), query).getMaterializedRows());
        }
        List<MaterializedRow> snapshots = rows("SELECT snapshot_id FROM iceberg.s.\"inspected$snapshots\" ORDER BY committed_at");
        String changes = "SELECT r_regionkey, _change_type FROM TABLE(%s.system.table_changes('s', 'inspected', %s, %s))";
        assertThat(rows(changes.formatted("cachediceberg", snapshots.getFirst().getField(0), snapshots.getLast().getField(0))))
                .hasSize(5)
                .containsExactlyInAnyOrderElementsOf(rows(changes.formatted("iceberg", snapshots.getFirst().getField(0), snapshots.getLast().getField(0))));
    }

    @Test
    void testTablesAndProceduresOfTheCache()
    {
        assertThat(rows("SHOW TABLES FROM cachediceberg.cache")).extracting(row -> row.getField(0))
                .containsExactlyInAnyOrder("events", "files", "nodes", "partitions", "rules", "sizing", "stats", "stats_detail", "summary", "tables");
        for (String procedure : List.of("preload_table", "preload_partition", "pin_partition", "unpin_partition", "flush_data_cache")) {
            assertThatThrownBy(() -> queryRunner.execute("CALL cachediceberg.system.%s('s', 'orders')".formatted(procedure)))
                    .hasMessageContaining("Procedure not registered");
        }
        assertSame("SELECT * FROM region");
        String location = (String) rows("SELECT \"$path\" FROM iceberg.s.region").getFirst().getField(0);
        String cached = "SELECT count(*) FROM cachediceberg.cache.files WHERE file_path = '%s'".formatted(location);
        assertThat(rows(cached).getFirst().getField(0)).isEqualTo(1L);
        queryRunner.execute("CALL cachediceberg.system.flush_location('%s')".formatted(location));
        assertThat(rows(cached).getFirst().getField(0)).isEqualTo(0L);
        assertSame("SELECT * FROM region");
    }

    @Test
    void testModeOffIsPlainIceberg()
    {
        assertSame("SELECT * FROM supplier");
        Session session = Session.builder(session("cachediceberg")).setCatalogSessionProperty("cachediceberg", "cache_enabled", "false").build();
        long mark = s3.log().mark();
        assertThat(queryRunner.execute(session, "SELECT * FROM supplier").getMaterializedRows())
                .containsExactlyInAnyOrderElementsOf(rows("SELECT * FROM iceberg.s.supplier"));
        assertThat(dataRequests(mark)).isNotEmpty();
    }
}
