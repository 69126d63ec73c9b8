package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.engine.CacheSchemaModule;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.store.quota.TableUsage;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.DocumentedCode;
import io.cachedhive.testing.DocumentedCode.Command;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.Session;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.spi.security.Identity;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Rules in an engine of two nodes, with a cache worker.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestCacheRules
{
    private static final String RULES =
            """
            {
              "rules": [
                {"name": "logs", "table": "logs_.*", "action": "bypass"},
                {"name": "brief", "table": "brief", "class": "high", "ttl": "3s"},
                {"name": "recent", "table": "days", "partitionAge": {"columns": ["year", "month", "day"], "max": "7d"}, "class": "high"},
                {"name": "old", "table": "days", "action": "bypass"},
                {"name": "tagged", "table": "who", "clientTags": ["adhoc", "big"], "action": "bypass"},
                {"name": "etl", "table": "who", "user": "etl_.*", "action": "bypass"},
                {"name": "tool", "table": "who", "source": "tool", "action": "bypass"}
              ]
            }
            """;

    private Path rulesFile;
    private S3Server s3;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;
    private Map<String, String> properties;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        rulesFile = directory.resolve("rules.json");
        writeRules(RULES);
        s3 = S3Server.builder().bucket("lake").start();
        worker = new TestingCacheWorker(directory, s3.clientProperties());
        worker.start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(1)
                .setAdditionalModule(new CacheSchemaModule())
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
        properties = ImmutableMap.<String, String>builder()
                .putAll(hive)
                .putAll(worker.catalogProperties())
                .put("cachedhive.rules-file", rulesFile.toString())
                .buildOrThrow();
        queryRunner.createCatalog("cachedhive", "cachedhive", properties);
        queryRunner.execute("CREATE SCHEMA hive.s");
        await("problem of the cache worker", () -> getOnlyElement(queryRunner.execute("SELECT problem FROM cachedhive.cache.stats")).getField(0), problem -> problem == null);
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, worker, s3);
    }

    @BeforeEach
    void reset()
            throws IOException
    {
        writeRules(RULES);
        queryRunner.execute("CALL cachedhive.system.refresh_cache_rules()");
    }

    private void writeRules(String json)
            throws IOException
    {
        // nobody sees half of it
        Path written = Files.writeString(rulesFile.resolveSibling("rules.new"), json);
        Files.move(written, rulesFile, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /**
     * The engine's tables over all catalogs say what the tables of each catalog say, in the same order.
     */
    @Test
    void testTablesOfAllCatalogsHaveTheColumnsOfEach()
    {
        String columns = "SELECT column_name, data_type FROM %s.information_schema.columns WHERE table_schema = 'cache' AND table_name = '%s' ORDER BY ordinal_position";
        List<MaterializedRow> tables = queryRunner.execute("SHOW TABLES FROM system.cache").getMaterializedRows();
        assertThat(tables).isNotEmpty();
        assertThat(tables).allSatisfy(row -> {
            Object table = row.getField(0);
            List<MaterializedRow> ofAll = queryRunner.execute(columns.formatted("system", table)).getMaterializedRows();
            assertThat(ofAll.getFirst().getField(0)).isEqualTo("catalog_name");
            assertThat(ofAll.subList(1, ofAll.size())).as("columns of %s", table).isEqualTo(queryRunner.execute(columns.formatted("cachedhive", table)).getMaterializedRows());
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORC", "PARQUET", "TEXTFILE", "JSON"})
    void testBypass(String format)
    {
        String table = "logs_" + format.toLowerCase(Locale.ROOT);
        queryRunner.execute("CREATE TABLE hive.s.%s WITH (format = '%s') AS SELECT * FROM tpch.tiny.orders".formatted(table, format));
        String query = "SELECT orderkey, comment FROM %s.s." + table + " ORDER BY orderkey";
        List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();
        S3RequestCounts plain = dataFileRequests(table, () -> queryRunner.execute(query.formatted("hive")));
        for (int i = 0; i < 2; i++) {
            S3RequestCounts counts = dataFileRequests(table, () -> assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected));
            assertThat(counts.gets()).isEqualTo(plain.gets()).isPositive();
            assertThat(counts.heads()).isLessThanOrEqualTo(plain.heads());
        }

        String plan = explain(queryRunner.getDefaultSession(), query.formatted("cachedhive"));
        long requested = metric(plan, CounterNames.REQUESTED_BYTES).orElseThrow();
        assertThat(requested).isPositive();
        assertThat(metric(plan, CounterNames.BYPASS_BYTES)).hasValue(requested);
        assertThat(metric(plan, "bypass_bytes_rule")).hasValue(requested);
        assertThat(metric(plan, "splits_by_rule_logs").orElseThrow()).isPositive();
        assertThat(metric(plan, "splits_by_rule_default")).isEmpty();
        assertThat(metric(plan, "splits_without_owner")).as("anywhere").isEqualTo(metric(plan, "splits_by_rule_logs"));
    }

    @Test
    void testTtl()
    {
        queryRunner.execute("CREATE TABLE hive.s.brief WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.customer");
        String query = "SELECT max(comment) FROM cachedhive.s.brief";
        await("hits", () -> dataFileRequests(() -> queryRunner.execute(query)).gets(), gets -> gets == 0);
        await("misses again", () -> dataFileRequests(() -> queryRunner.execute(query)).gets(), gets -> gets > 0);
        assertThat(worker.gauge(CounterNames.EXPIRED_BLOCKS)).isPositive();
        assertThat(metric(explain(queryRunner.getDefaultSession(), query), "splits_by_rule_brief").orElseThrow()).isPositive();
    }

    @Test
    void testPartitionAge()
    {
        queryRunner.execute(
                """
                CREATE TABLE hive.s.days WITH (format = 'ORC', partitioned_by = ARRAY['year', 'month', 'day']) AS
                SELECT n, cast(year(d) AS varchar) year, cast(month(d) AS varchar) month, cast(day(d) AS varchar) day
                FROM (SELECT n, current_date - n * INTERVAL '5' DAY d FROM UNNEST(sequence(0, 3)) AS t (n))
                """);
        String plan = explain(queryRunner.getDefaultSession(), "SELECT sum(n) FROM cachedhive.s.days");
        // today, and five days ago; ten and fifteen days ago
        assertThat(metric(plan, "splits_by_rule_recent")).hasValue(2);
        assertThat(metric(plan, "splits_by_rule_old")).hasValue(2);
        long bypassed = metric(plan, "bypass_bytes_rule").orElseThrow();
        assertThat(bypassed).isPositive().isLessThan(metric(plan, CounterNames.REQUESTED_BYTES).orElseThrow());
    }

    @Test
    void testWhoAsks()
    {
        queryRunner.execute("CREATE TABLE hive.s.who WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.nation");
        Session session = queryRunner.getDefaultSession();
        assertDecides("default", session);
        assertDecides("tagged", Session.builder(session).setClientTags(Set.of("adhoc", "big", "other")).build());
        assertDecides("default", Session.builder(session).setClientTags(Set.of("adhoc")).build());
        assertDecides("etl", Session.builder(session).setIdentity(Identity.ofUser("etl_nightly")).build());
        assertDecides("tool", Session.builder(session).setSource("tool").build());
    }

    private void assertDecides(String rule, Session session)
    {
        String plan = explain(session, "SELECT max(comment) FROM cachedhive.s.who");
        for (String name : List.of("default", "tagged", "etl", "tool")) {
            assertThat(metric(plan, "splits_by_rule_" + name).isPresent()).as("%s in %s", name, plan).isEqualTo(name.equals(rule));
        }
        assertThat(metric(plan, "bypass_bytes_rule").isPresent()).as(plan).isEqualTo(!rule.equals("default"));
    }

    @Test
    void testTables()
    {
        queryRunner.execute("CREATE TABLE hive.s.logs_counted WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.nation");
        MaterializedRow before = rule("logs");
        queryRunner.execute("SELECT max(comment) FROM cachedhive.s.logs_counted");
        MaterializedRow after = rule("logs");
        assertThat(after.getFields().subList(0, 7)).containsExactly(1L, "logs", "{\"table\":\"logs_.*\"}", "BYPASS", null, null, null);
        MaterializedRow files = getOnlyElement(queryRunner.execute(
                "SELECT count(*), sum(size) FROM (SELECT max(\"$file_size\") size FROM hive.s.logs_counted GROUP BY \"$path\")").getMaterializedRows());
        assertThat((long) after.getField(7) - (long) before.getField(7)).as("scans").isEqualTo(1);
        assertThat((long) after.getField(8) - (long) before.getField(8)).as("splits").isEqualTo(files.getField(0));
        assertThat((long) after.getField(9) - (long) before.getField(9)).as("bytes").isEqualTo(files.getField(1));
        assertThat(after.getField(10)).isNotNull();
        assertThat(after.getField(11)).isNotNull();
        assertThat(after.getField(12)).isNull();
        assertThat(rule("brief").getFields().subList(0, 7)).containsExactly(2L, "brief", "{\"table\":\"brief\"}", "CACHE", "HIGH", 3.0, null);
        assertThat(rule("default").getFields().subList(0, 7)).containsExactly(null, "default", "{}", "CACHE", null, null, null);
        assertThat(queryRunner.execute("SELECT * FROM system.cache.rules WHERE catalog_name = 'cachedhive' AND name = 'logs'").getMaterializedRows())
                .extracting(row -> row.getFields().subList(1, 14))
                .containsExactly(after.getFields());
    }

    @Test
    void testQuota()
            throws Exception
    {
        queryRunner.execute("CREATE TABLE hive.s.bounded WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.lineitem");
        queryRunner.execute("CREATE TABLE hive.s.unbounded WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.orders");
        long bytes = (long) queryRunner.execute("SELECT sum(size) FROM (SELECT max(\"$file_size\") size FROM hive.s.bounded GROUP BY \"$path\")").getOnlyValue();
        String query = "SELECT sum(orderkey), max(comment) FROM %s.s.bounded";
        List<MaterializedRow> expected = queryRunner.execute(query.formatted("hive")).getMaterializedRows();
        queryRunner.execute("SELECT max(comment) FROM cachedhive.s.unbounded");
        assertThat(worker.tableUsage("s.bounded")).isEmpty();

        writeRules("{\"rules\": [{\"name\": \"small\", \"schema\": \"s\", \"table\": \"bounded\", \"quota\": \"%sB\"}]}".formatted(bytes / 2));
        queryRunner.execute("CALL cachedhive.system.refresh_cache_rules()");
        assertThat(rule("small").getField(6)).isEqualTo(bytes / 2);
        for (int i = 0; i < 3; i++) {
            assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);
            TableUsage usage = worker.tableUsage("s.bounded").orElseThrow();
            assertThat(usage.quotaBytes()).isEqualTo(bytes / 2);
            assertThat(usage.ramBytes()).isLessThanOrEqualTo(usage.shareBytes());
            assertThat(usage.ssdBytes()).isLessThanOrEqualTo(usage.shareBytes());
        }

        // the whole table, and then nothing of it: reads of what is in shared memory say so
        writeRules("{\"rules\": [{\"table\": \"bounded\", \"quota\": \"1GB\"}]}");
        queryRunner.execute("CALL cachedhive.system.refresh_cache_rules()");
        await("hits", () -> dataFileRequests(() -> queryRunner.execute(query.formatted("cachedhive"))).gets(), gets -> gets == 0);
        assertThat(worker.tableUsage("s.bounded").orElseThrow().ramBytes()).isGreaterThan(bytes / 2);
        writeRules("{\"rules\": [{\"table\": \"bounded\", \"quota\": \"1B\"}]}");
        queryRunner.execute("CALL cachedhive.system.refresh_cache_rules()");
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);
        await("sweep", () -> worker.tableUsage("s.bounded").orElseThrow(), usage -> usage.ramBytes() == 0 && usage.ssdBytes() == 0);
        assertThat(queryRunner.execute(query.formatted("cachedhive")).getMaterializedRows()).isEqualTo(expected);

        // a file without it takes it back
        reset();
        queryRunner.execute(query.formatted("cachedhive"));
        await("no quota", () -> worker.tableUsage("s.bounded"), Optional::isEmpty);
        await("hits again", () -> dataFileRequests(() -> queryRunner.execute(query.formatted("cachedhive"))).gets(), gets -> gets == 0);
    }

    private MaterializedRow rule(String name)
    {
        return getOnlyElement(queryRunner.execute("SELECT * FROM cachedhive.cache.rules WHERE name = '%s'".formatted(name)).getMaterializedRows());
    }

    @Test
    void testReload()
            throws Exception
    {
        String names = "SELECT array_join(array_agg(name ORDER BY number), ',') FROM cachedhive.cache.rules";
        String problems = "SELECT DISTINCT problem FROM cachedhive.cache.rules";
        writeRules("{\"rules\": [{\"name\": \"another\"}]}");
        await("reload", () -> queryRunner.execute(names).getOnlyValue(), value -> value.equals("another,default"));

        writeRules("{\"rules\": [{\"name\": \"another\", \"class\": \"best\"}]}");
        await("problem", () -> queryRunner.execute(problems).getOnlyValue(), value -> value != null);
        String problem = "rules file %s of catalog cachedhive: rule 1 (\"another\"), \"class\" is \"best\": write \"normal\", \"high\" or \"pinned\"".formatted(rulesFile);
        assertThat((String) queryRunner.execute(problems).getOnlyValue()).startsWith(problem);
        assertThat(queryRunner.execute(names).getOnlyValue()).isEqualTo("another,default");
        assertThatThrownBy(() -> queryRunner.execute("CALL cachedhive.system.refresh_cache_rules()")).hasMessageStartingWith(problem);
        assertThatThrownBy(() -> queryRunner.createCatalog("broken", "cachedhive", properties))
                .hasStackTraceContaining("rules file %s of catalog broken: rule 1 (\"another\"), \"class\" is \"best\"".formatted(rulesFile));

        writeRules("{\"rules\": []}");
        queryRunner.execute("CALL cachedhive.system.refresh_cache_rules()");
        assertThat(queryRunner.execute(problems).getOnlyValue()).isNull();
        assertThat(queryRunner.execute(names).getOnlyValue()).isEqualTo("default");
    }

    private S3RequestCounts dataFileRequests(Runnable action)
    {
        long mark = s3.log().mark();
        action.run();
        return S3RequestCounts.ofDataFiles(s3.log().since(mark));
    }

    /**
     * Of one table: of others the cache worker may look at files again meanwhile.
     */
    private S3RequestCounts dataFileRequests(String table, Runnable action)
    {
        long mark = s3.log().mark();
        action.run();
        return S3RequestCounts.ofDataFiles(s3.log().since(mark).stream().filter(request -> request.key().filter(key -> key.contains(table)).isPresent()).toList());
    }

    private String explain(Session session, String query)
    {
        return (String) queryRunner.execute(session, "EXPLAIN ANALYZE VERBOSE " + query).getOnlyValue();
    }

    private static OptionalLong metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        return matcher.find() ? OptionalLong.of(Long.parseLong(matcher.group(1))) : OptionalLong.empty();
    }

    /**
     * The statements of all pages run as they are, but for the name of the catalog. A test of the quickstart runs those of docs/sql.md.
     */
    @Test
    void testStatementsOfPages()
    {
        List<String> failures = new ArrayList<>();
        List<String> statements = statements();
        assertThat(statements).hasSizeGreaterThan(10);
        for (String statement : statements) {
            failure(statement).ifPresent(failures::add);
        }
        queryRunner.execute("CALL cachedhive.system.set_cache_mode('DEFAULT')");
        assertThat(failures).isEmpty();
        assertThat(failure("SELECT hots FROM lake.cache.stats")).as("a wrong statement").get().asString().contains("Column 'hots' cannot be resolved");
    }

    private Optional<String> failure(String statement)
    {
        try {
            queryRunner.execute(statement.replaceAll("\\b(lake|lake_cached)\\.|<catalog>\\.", "cachedhive."));
            return Optional.empty();
        }
        catch (RuntimeException e) {
            return Optional.of("%s: %s".formatted(statement, e.getMessage()));
        }
    }

    private static List<String> statements()
    {
        Stream<String> blocks = DocumentedCode.blocks().stream()
                .filter(block -> block.language().equals("sql") && !block.page().equals("docs/sql.md"))
                .flatMap(block -> Stream.of(block.text().split(";\\s*")));
        // descriptions of arguments are no statements, and flushes and preloads need a table of the reader; this engine has no listener that records queries
        Stream<String> spans = Stream.of("SELECT", "CALL")
                .flatMap(verb -> DocumentedCode.commands(verb).stream())
                .map(Command::text)
                .filter(text -> text.startsWith("SELECT ") || text.contains("set_cache_mode('") || text.contains("refresh_cache_rules()"));
        return Stream.concat(blocks, spans).filter(text -> !text.contains("system.cache.queries")).toList();
    }

    /**
     * The hour that has begun is a scheduled time, which passed before the catalogs were there. Only one of two catalogs with the same file and the same tables loads anything.
     */
    @Test
    void testScheduledPreload()
            throws IOException
    {
        queryRunner.execute(
                """
                CREATE TABLE hive.s.scheduled WITH (format = 'PARQUET', partitioned_by = ARRAY['ds']) AS
                SELECT name, comment, cast(current_date - INTERVAL '1' DAY * (regionkey * 5) AS varchar) ds FROM tpch.tiny.nation
                """);
        Path file = Files.writeString(rulesFile.resolveSibling("schedules.json"),
                """
                {
                  "rules": [],
                  "preloads": [
                    {
                      "name": "recent", "cron": "0 * * * *", "schema": "s", "table": "scheduled", "startWithin": "2h",
                      "partitionAge": {"columns": ["ds"], "max": "8d"}, "columns": ["comment"]
                    },
                    {"name": "absent", "cron": "0 * * * *", "schema": "s", "table": "absent", "startWithin": "2h"},
                    {"name": "later", "cron": "0 0 1 1 *", "schema": "s", "table": "scheduled"}
                  ]
                }
                """);
        Map<String, String> scheduled = ImmutableMap.<String, String>builder()
                .putAll(properties)
                .put("cachedhive.rules-file", file.toString())
                .buildKeepingLast();
        queryRunner.createCatalog("schedules_a", "cachedhive", scheduled);
        queryRunner.createCatalog("schedules_b", "cachedhive", scheduled);
        // both have seen that the time has come
        await(
                "run of the schedule",
                () -> queryRunner.execute(
                        """
                        SELECT count(*), count_if(state = 'FINISHED'), count_if(state = 'SCHEDULED' AND started > current_timestamp)
                        FROM system.cache.preloads
                        WHERE catalog_name LIKE 'schedules%' AND schedule = 'recent'
                        """).getMaterializedRows().getFirst().getFields(),
                counts -> counts.equals(List.of(3L, 1L, 2L)));
        List<MaterializedRow> files = queryRunner.execute("SELECT \"$path\", ds FROM hive.s.scheduled GROUP BY 1, 2").getMaterializedRows();
        assertThat(files).hasSize(5);
        Set<Object> cached = queryRunner.execute("SELECT file_path FROM cachedhive.cache.files WHERE table_name = 'scheduled'").getOnlyColumnAsSet();
        assertThat(cached).as("files of today and of five days ago").hasSize(2).isEqualTo(files.stream()
                .sorted((one, other) -> ((String) other.getField(1)).compareTo((String) one.getField(1)))
                .limit(2)
                .map(row -> row.getField(0))
                .collect(Collectors.toSet()));
        MaterializedRow run = getOnlyElement(queryRunner.execute(
                """
                SELECT job LIKE 'recent.%', partition, columns, done_bytes > 0, problem FROM system.cache.preloads
                WHERE catalog_name LIKE 'schedules%' AND state = 'FINISHED'
                """));
        assertThat(run.getFields()).isEqualTo(Arrays.asList(true, "age of ds up to 8.00d", "comment", true, null));
        assertThat(queryRunner.execute("SELECT DISTINCT state, problem FROM schedules_a.cache.preloads WHERE schedule = 'absent'").getMaterializedRows())
                .extracting(MaterializedRow::getFields)
                .containsExactly(List.of("SCHEDULED", "Table 's.absent' not found"));
        assertThat(queryRunner.execute("SELECT state, month(started), problem FROM schedules_a.cache.preloads WHERE schedule = 'later'").getMaterializedRows())
                .extracting(MaterializedRow::getFields)
                .containsExactly(Arrays.asList("SCHEDULED", 1L, null));
    }

    private static <T> void await(String what, Supplier<T> supplier, Predicate<T> condition)
    {
        Await.untilAsserted(what, DEADLINE, QUERY_PAUSE, () -> assertThat(supplier.get()).matches(condition));
    }
}
