package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tables on a file system that no cache worker can read: Trino nodes read the files themselves and fill the cache of a real cache worker. Rows are those of
 * plain Hive, later scans come from the cache, and a file that was replaced in place is noticed.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestReadsOfLocalFiles
{
    private static final Instant WRITTEN = Instant.parse("2026-01-01T00:00:00Z");

    private Path warehouse;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        Path root = Files.createDirectories(directory.resolve("files"));
        warehouse = root.resolve("warehouse");
        // an object store that is not there: nothing may come from it
        Map<String, String> noStore = Map.of(
                "s3.endpoint", "http://127.0.0.1:1",
                "s3.region", "nowhere",
                "s3.path-style-access", "true",
                "s3.aws-access-key", "none",
                "s3.aws-secret-key", "none");
        // small blocks, so that files have several
        worker = new TestingCacheWorker(directory, noStore, 64 << 10);
        worker.start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(1)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(PatientReaders.plugin());
        Map<String, String> hive = ImmutableMap.<String, String>builder()
                .put("hive.metastore", "file")
                .put("hive.metastore.catalog.dir", "local:///warehouse")
                .put("hive.security", "allow-all")
                .put("hive.compression-codec", "NONE")
                .put("fs.local.enabled", "true")
                .put("local.location", root.toString())
                .buildOrThrow();
        queryRunner.createCatalog("hive", "hive", hive);
        Map<String, String> cached = ImmutableMap.<String, String>builder()
                .putAll(hive)
                .putAll(worker.catalogProperties())
                .put("cachedhive.cache-local-files", "true")
                .buildOrThrow();
        for (String catalog : List.of("cachedhive", "second")) {
            queryRunner.createCatalog(catalog, "cachedhive", cached);
            Await.until("the cache worker of " + catalog + " is healthy", DEADLINE, QUERY_PAUSE, () ->
                    getOnlyElement(queryRunner.execute("SELECT problem FROM %s.cache.stats".formatted(catalog))).getField(0) == null);
        }
        queryRunner.execute("CREATE SCHEMA hive.s");
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, worker);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORC", "PARQUET", "TEXTFILE", "AVRO"})
    void testFormat(String format)
            throws Exception
    {
        String table = "orders_" + format.toLowerCase(Locale.ROOT);
        queryRunner.execute("CREATE TABLE hive.s.%s WITH (format = '%s') AS %s".formatted(
                table,
                format,
                "SELECT orderkey, custkey, CAST(comment AS varchar) AS comment FROM tpch.tiny.orders"));
        settle(table, WRITTEN);
        String query = "SELECT orderkey, comment, custkey FROM %s.s." + table + " ORDER BY orderkey";
        List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();
        assertThat(expected).hasSize(15_000);

        String plan = explain(query.formatted("cachedhive"));
        long requested = metric(plan, CounterNames.REQUESTED_BYTES);
        assertThat(requested).isPositive();
        // blocks that the reader itself brought
        assertThat(metric(plan, CounterNames.REMOTE_READ_BYTES)).as(plan).isPositive();

        awaitCached(query.formatted("cachedhive"));
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);
        assertThat(metric(explain(query.formatted("cachedhive")), CounterNames.REQUESTED_BYTES)).isEqualTo(requested);
    }

    /**
     * The bytes of the second scan are the cache's, whatever the counters say: those of the file are others by then, behind an unchanged length and time.
     */
    @Test
    void testBytesAreOfTheCache()
            throws Exception
    {
        create("kept", "aaaa");
        String query = "SELECT DISTINCT word FROM %s.s.kept";
        awaitCached(query.formatted("cachedhive"));
        replace("kept", "aaaa", "bbbb", WRITTEN);
        assertThat(queryRunner.execute(query.formatted("hive")).getOnlyValue()).isEqualTo("bbbb");
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getOnlyValue()).isEqualTo("aaaa");
    }

    /**
     * Of the same length, a thousandth of a second later.
     */
    @Test
    void testFileReplacedInPlace()
            throws Exception
    {
        create("replaced", "aaaa");
        String query = "SELECT word, count(*) FROM %s.s.replaced GROUP BY word";
        awaitCached(query.formatted("cachedhive"));
        replace("replaced", "aaaa", "bbbb", WRITTEN.plusMillis(1));
        List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();
        assertThat(getOnlyElement(expected).getField(0)).isEqualTo("bbbb");
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);
        // the new file is cached as well
        awaitCached(query.formatted("cachedhive"));
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);
    }

    /**
     * trino issue 3494: requests that did not begin and end with blocks filled them with the wrong bytes, and later queries found malformed files. Here the
     * first queries read a few columns, and later ones find the rest of their blocks.
     */
    @ParameterizedTest
    @ValueSource(strings = {"ORC", "PARQUET"})
    void testColumnsOneAfterTheOther(String format)
            throws Exception
    {
        String table = "lines_" + format.toLowerCase(Locale.ROOT);
        queryRunner.execute("CREATE TABLE hive.s.%s WITH (format = '%s') AS SELECT * FROM tpch.tiny.lineitem".formatted(table, format));
        settle(table, WRITTEN);
        for (String columns : List.of("sum(tax)", "max(shipdate), checksum(shipmode)", "checksum(comment), sum(orderkey)", "count(DISTINCT partkey), sum(extendedprice)")) {
            String query = "SELECT %s FROM %%s.s.%s".formatted(columns, table);
            List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();
            assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).as(columns).isEqualTo(expected);
            awaitCached(query.formatted("cachedhive"));
            assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).as(columns).isEqualTo(expected);
        }
    }

    /**
     * trino issue 21451: a table was dropped and created again, with longer files of the same names. Readers got the first part of a file from the cache, and
     * it ended in the middle of a value.
     */
    @Test
    void testTableDroppedAndCreatedAgain()
            throws Exception
    {
        String create = "CREATE TABLE hive.s.recreated WITH (format = '%s') AS SELECT orderkey, CAST(comment AS varchar) AS comment FROM tpch.tiny.orders WHERE orderkey < %s";
        String query = "SELECT count(*), checksum(comment), sum(orderkey) FROM %s.s.recreated";
        for (String format : List.of("JSON", "PARQUET")) {
            queryRunner.execute(create.formatted(format, 20_000));
            settle("recreated", WRITTEN);
            awaitCached(query.formatted("cachedhive"));
            Path file = dataFile("recreated");
            // not by the catalog that caches
            queryRunner.execute("DROP TABLE hive.s.recreated");
            queryRunner.execute(create.formatted(format, 100_000));
            Files.move(dataFile("recreated"), file);
            settle("recreated", WRITTEN.plusSeconds(1));
            List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();
            assertThat(getOnlyElement(expected).getField(0)).isEqualTo(15_000L);
            assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);
            queryRunner.execute("DROP TABLE hive.s.recreated");
        }
    }

    /**
     * trino issue 3723: of two catalogs with a cache on one node, only the first had it. Here both use the cache worker of the host, and share its blocks.
     */
    @Test
    void testSecondCatalog()
            throws Exception
    {
        create("shared", "aaaa");
        String query = "SELECT count(DISTINCT word) FROM %s.s.shared";
        awaitCached(query.formatted("cachedhive"));
        String plan = explain(query.formatted("second"));
        assertThat(metric(plan, CounterNames.RAM_HIT_BYTES)).as(plan).isPositive().isEqualTo(metric(plan, CounterNames.REQUESTED_BYTES));
        assertThat(queryRunner.execute("SELECT state, problem FROM second.cache.stats").getMaterializedRows())
                .isEqualTo(queryRunner.execute("SELECT state, problem FROM cachedhive.cache.stats").getMaterializedRows())
                .extracting(row -> row.getField(0))
                .containsOnly("RUNNING");
    }

    /**
     * A table of one text file that has the word in each of its rows.
     */
    private void create(String table, String word)
            throws IOException
    {
        queryRunner.execute("CREATE TABLE hive.s.%s WITH (format = 'TEXTFILE') AS SELECT CAST('%s' AS varchar) AS word FROM tpch.tiny.supplier".formatted(table, word));
        settle(table, WRITTEN);
    }

    private void replace(String table, String word, String other, Instant modified)
            throws IOException
    {
        Path file = dataFile(table);
        String content = Files.readString(file, StandardCharsets.ISO_8859_1);
        String replaced = content.replace(word, other);
        assertThat(replaced).isNotEqualTo(content).hasSameSizeAs(content);
        Files.writeString(file, replaced, StandardCharsets.ISO_8859_1);
        settle(table, modified);
    }

    private void settle(String table, Instant modified)
            throws IOException
    {
        for (Path file : dataFiles(table)) {
            Files.setLastModifiedTime(file, FileTime.from(modified));
        }
    }

    private Path dataFile(String table)
            throws IOException
    {
        return getOnlyElement(dataFiles(table));
    }

    private List<Path> dataFiles(String table)
            throws IOException
    {
        try (Stream<Path> files = Files.list(warehouse.resolve("s").resolve(table))) {
            return files.filter(Files::isRegularFile).filter(file -> !file.getFileName().toString().startsWith(".")).toList();
        }
    }

    /**
     * All bytes that the query requests come from the cache worker's memory.
     */
    private void awaitCached(String query)
    {
        Await.untilAsserted("hits of " + query, DEADLINE, QUERY_PAUSE, () -> {
            String plan = explain(query);
            assertThat(metric(plan, CounterNames.RAM_HIT_BYTES)).as(plan).isPositive().isEqualTo(metric(plan, CounterNames.REQUESTED_BYTES));
        });
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
}
