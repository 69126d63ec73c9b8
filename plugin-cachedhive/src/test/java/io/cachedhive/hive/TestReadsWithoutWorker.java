package io.cachedhive.hive;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Server;
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

import javax.management.MBeanServer;
import javax.management.ObjectName;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.collect.Iterables.getOnlyElement;
import static io.airlift.testing.Closeables.closeAll;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * No cache worker runs: every query is right, and every byte is a bypass.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestReadsWithoutWorker
{
    private Path directory;
    // bound, so that nobody else listens there, and not listening itself
    private SocketChannel noWorker;
    private int port;
    private S3Server s3;
    private DistributedQueryRunner queryRunner;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        this.directory = directory;
        noWorker = SocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
        port = ((InetSocketAddress) noWorker.getLocalAddress()).getPort();
        s3 = S3Server.builder().bucket("lake").start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(1)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(new CachedHivePlugin());
        queryRunner.createCatalog("cachedhive", "cachedhive", cacheProperties());
        queryRunner.createCatalog("hive", "hive", hiveProperties());
        queryRunner.execute("CREATE SCHEMA cachedhive.s");
    }

    private Map<String, String> cacheProperties(String... more)
    {
        Map<String, String> properties = hiveProperties();
        properties.put("cachedhive.worker.socket-path", directory.resolve("worker.sock").toString());
        properties.put("cachedhive.worker.port", Integer.toString(port));
        for (int i = 0; i < more.length; i += 2) {
            properties.put(more[i], more[i + 1]);
        }
        return properties;
    }

    private Map<String, String> hiveProperties()
    {
        Map<String, String> properties = new HashMap<>(s3.clientProperties());
        properties.put("hive.metastore", "file");
        properties.put("hive.metastore.catalog.dir", "s3://lake/warehouse");
        properties.put("hive.security", "allow-all");
        properties.put("fs.s3.enabled", "true");
        return properties;
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, s3, noWorker);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ORC", "PARQUET", "TEXTFILE", "JSON", "OPENX_JSON", "AVRO", "RCTEXT", "RCBINARY", "SEQUENCEFILE", "CSV"})
    void testFormat(String format)
    {
        String table = "customer_" + format.toLowerCase(Locale.ROOT);
        queryRunner.execute(("CREATE TABLE cachedhive.s.%s WITH (format = '%s') AS "
                + "SELECT cast(custkey AS varchar) custkey, cast(name AS varchar) name, cast(nationkey AS varchar) nationkey FROM tpch.tiny.customer").formatted(table, format));

        String query = "SELECT nationkey, count(*), max(name) FROM %s.s.%s GROUP BY nationkey ORDER BY nationkey";
        assertThat(queryRunner.execute(query.formatted("cachedhive", table)).getMaterializedRows())
                .isEqualTo(queryRunner.execute(query.formatted("hive", table)).getMaterializedRows());

        String plan = (String) queryRunner.execute("EXPLAIN ANALYZE VERBOSE SELECT max(name) FROM cachedhive.s." + table).getOnlyValue();
        long requested = metric(plan, CounterNames.REQUESTED_BYTES);
        assertThat(requested).as(plan).isPositive();
        assertThat(metric(plan, CounterNames.BYPASS_BYTES)).as(plan).isEqualTo(requested);
        assertThat(metric(plan, "bypass_bytes_no_worker")).as(plan).isEqualTo(requested);
        assertThat(metric(plan, CounterNames.RAM_HIT_BYTES)).as(plan).isZero();
    }

    @Test
    void testPlainHiveWithoutCache()
    {
        queryRunner.execute("CREATE TABLE cachedhive.s.region AS SELECT * FROM tpch.tiny.region");
        String plan = (String) queryRunner.execute(
                testSessionBuilder(queryRunner.getDefaultSession()).setCatalogSessionProperty("cachedhive", "cache_enabled", "false").build(),
                "EXPLAIN ANALYZE VERBOSE SELECT max(name) FROM cachedhive.s.region").getOnlyValue();
        assertThat(plan).doesNotContain(CounterNames.REQUESTED_BYTES);
    }

    @Test
    void testTablesSayWhatIsMissing()
    {
        MaterializedRow row = getOnlyElement(queryRunner.execute(
                "SELECT node_id, host, state, problem, since, hit_rate, requests, ram_hit_bytes, ssd_used_bytes FROM cachedhive.cache.stats"));
        assertThat(row.getField(0)).isNull();
        assertThat(row.getField(1)).isEqualTo("127.0.0.1");
        assertThat(row.getField(2)).isEqualTo("UNREACHABLE");
        assertThat((String) row.getField(3))
                .startsWith("no cache worker answers on 127.0.0.1:%s: start it there, or set cachedhive.worker.port".formatted(port));
        assertThat(row.getFields().subList(4, 9)).containsOnlyNulls();

        row = getOnlyElement(queryRunner.execute(
                "SELECT node_id, address, version, epoch, weight, ring_share, zone, uptime_seconds, restored_blocks, state FROM cachedhive.cache.nodes"));
        assertThat(row.getFields()).isEqualTo(Arrays.asList(null, "127.0.0.1:" + port, null, null, 0L, 0.0, null, null, null, "UNREACHABLE"));

        row = getOnlyElement(queryRunner.execute("SELECT requested_bytes, bypass_bytes_by_cause, ram_capacity_bytes FROM cachedhive.cache.stats_detail"));
        assertThat(row.getFields()).containsOnlyNulls();

        assertThat(queryRunner.execute("SELECT predicted_hit_rate, verdict, capacity_bytes, requested_bytes, nodes FROM cachedhive.cache.sizing").getMaterializedRows())
                .hasSize(7)
                .allSatisfy(sized -> assertThat(sized.getFields()).isEqualTo(Arrays.asList(null, null, 0L, 0L, 0L)));

        assertThat(queryRunner.execute("SELECT * FROM cachedhive.cache.preloads").getMaterializedRows()).isEmpty();
        assertThat(queryRunner.execute("SELECT * FROM cachedhive.cache.files").getMaterializedRows()).isEmpty();
        assertThat(queryRunner.execute("SHOW TABLES FROM cachedhive.cache").getOnlyColumnAsSet())
                .containsExactlyInAnyOrder("summary", "stats", "stats_detail", "nodes", "preloads", "rules", "sizing", "files", "tables", "partitions", "pins", "events");
        assertThat(queryRunner.execute("SELECT column_name FROM cachedhive.information_schema.columns WHERE table_schema = 'cache' AND comment IS NULL").getMaterializedRows())
                .as("columns without a comment")
                .isEmpty();
    }

    @Test
    void testBeans()
            throws Exception
    {
        queryRunner.execute("CREATE TABLE cachedhive.s.beans AS SELECT * FROM tpch.tiny.orders");
        long before = beans("BypassBytes");
        queryRunner.execute("SELECT count(DISTINCT clerk) FROM cachedhive.s.beans");
        assertThat(beans("BypassBytes")).isGreaterThan(before);
        assertThat(beans("BypassBytes")).isEqualTo(beans("RequestedBytes"));
        for (String name : List.of("CachedReads", "NonLocalReads", "RemoteReads", "ReadFromCache", "ReadFromRemote", "NonLocalDataRead", "ExtraReadFromRemote", "RamHitBytes")) {
            assertThat(beans(name)).as(name).isZero();
        }
        for (ObjectName bean : ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("cachedhive:name=cachedhive,type=stats,*"), null)) {
            assertThat((double) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, "HitRate")).isNaN();
            assertThat((double) ManagementFactory.getPlatformMBeanServer().getAttribute(bean, "MissRate")).isNaN();
        }
    }

    private static long beans(String attribute)
            throws Exception
    {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        Set<ObjectName> beans = server.queryNames(new ObjectName("cachedhive:name=cachedhive,type=stats,*"), null);
        assertThat(beans).as("one for each node").hasSize(2);
        long sum = 0;
        for (ObjectName bean : beans) {
            sum += (long) server.getAttribute(bean, attribute);
        }
        return sum;
    }

    @Test
    void testPreloadSaysWhatIsWrong()
    {
        queryRunner.execute("CREATE TABLE cachedhive.s.flat AS SELECT * FROM tpch.tiny.nation");
        queryRunner.execute("CREATE TABLE cachedhive.s.parted WITH (partitioned_by = ARRAY['regionkey']) AS SELECT name, regionkey FROM tpch.tiny.nation");
        queryRunner.execute("CREATE VIEW cachedhive.s.looking AS SELECT * FROM cachedhive.s.flat");

        assertPreloadFails("'s', 'missing'", "Table 's.missing' not found");
        assertPreloadFails("'s', 'looking'", "s.looking is a view: preload the tables that it reads");
        assertPreloadFails("NULL, 'flat'", "schema_name cannot be null");
        assertPreloadFails("'s', NULL", "table_name cannot be null");
        assertPreloadFails("'s', 'flat', ARRAY['a'], ARRAY['b']", "table s.flat is not partitioned: leave out partition_columns and partition_values");
        assertPreloadFails(
                "'s', 'parted'",
                "table s.parted is partitioned by [regionkey]: partition_columns and partition_values are required; preload_table loads all partitions");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey'], NULL", "partition_columns and partition_values are required both or neither");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey'], ARRAY['1', '2']", "partition_columns has 1 elements and partition_values 2");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey', 'REGIONKEY'], ARRAY['1', '2']", "partition_columns names regionkey twice");
        assertPreloadFails("'s', 'parted', ARRAY[], ARRAY[]", "partition_columns cannot be empty: leave it out for an unpartitioned table");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey'], ARRAY[NULL]", "partition_values cannot contain null: the partition of null is __HIVE_DEFAULT_PARTITION__");
        assertPreloadFails("'s', 'parted', ARRAY['name'], ARRAY['1']", "table s.parted has no partition column name, but [regionkey]");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey'], ARRAY['x']", "value of partition column regionkey is not a bigint: x");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey'], ARRAY['77']", "table s.parted has no partition with {regionkey=77}");
        assertPreloadFails("'s', 'parted', ARRAY['regionkey'], ARRAY['1']", "no cache worker of catalog cachedhive answers: see the table cache.stats for hosts without one");
        assertPreloadFails("'s', 'flat'", "no cache worker of catalog cachedhive answers: see the table cache.stats for hosts without one");

        assertPreloadFails("'nowhere', 'flat'", "Schema nowhere not found");
        assertPreloadFails(
                "schema_name => 's', table_name => 'flat', columns => ARRAY['name', 'nom']",
                "table s.flat has no column nom, but [nationkey, name, regionkey, comment]");
        assertPreloadFails("schema_name => 's', table_name => 'flat', columns => ARRAY[]", "columns cannot be empty: leave it out for all columns");
        assertPreloadFails("schema_name => 's', table_name => 'flat', columns => ARRAY['name', 'NAME']", "columns names name twice");
        assertPreloadFails("schema_name => 's', table_name => 'flat', columns => ARRAY[NULL]", "columns cannot contain null");
        assertPreloadFails("schema_name => 's', table_name => 'flat', job => 'my job'", "job must be 1 to 128 letters, digits, '-', '_', '.': my job");
        assertPreloadFails("schema_name => 's', table_name => 'flat', max_bytes_per_second => 0", "max_bytes_per_second must be positive: 0");
        assertThatThrownBy(() -> queryRunner.execute("CALL cachedhive.system.preload_table('s', 'parted')"))
                .hasMessage("no cache worker of catalog cachedhive answers: see the table cache.stats for hosts without one");
        assertThatThrownBy(() -> queryRunner.execute("CALL cachedhive.system.cancel_preload('nobody')"))
                .hasMessage("there is no preload nobody: the table cache.preloads lists them");
    }

    @Test
    void testPreloadOfWhatTheUserMayNotRead()
            throws IOException
    {
        Path rules = Files.writeString(directory.resolve("rules.json"), """
                {"tables": [
                    {"table": "hidden", "privileges": []},
                    {"privileges": ["SELECT", "INSERT", "DELETE", "OWNERSHIP"]}
                ], "procedures": [
                    {"schema": "system", "procedure": "preload_partition", "privileges": ["EXECUTE"]}
                ]}
                """);
        queryRunner.createCatalog("guarded", "cachedhive", cacheProperties("hive.security", "file", "security.config-file", rules.toString()));
        queryRunner.execute("CREATE TABLE cachedhive.s.hidden AS SELECT * FROM tpch.tiny.nation");
        queryRunner.execute("CREATE TABLE cachedhive.s.shown AS SELECT * FROM tpch.tiny.nation");
        assertThatThrownBy(() -> queryRunner.execute("CALL guarded.system.preload_partition('s', 'hidden')"))
                .hasMessageStartingWith("Access Denied: Cannot select from table s.hidden");
        assertThatThrownBy(() -> queryRunner.execute("CALL guarded.system.preload_partition('s', 'shown')"))
                .hasMessageStartingWith("no cache worker of catalog guarded answers");
    }

    private void assertPreloadFails(String arguments, String message)
    {
        assertThatThrownBy(() -> queryRunner.execute("CALL cachedhive.system.preload_partition(%s)".formatted(arguments)))
                .as(arguments)
                .hasMessage(message);
    }

    @Test
    void testDroppedCatalogLeavesNothing()
            throws Exception
    {
        queryRunner.createCatalog("passing", "cachedhive", cacheProperties());
        queryRunner.execute("SELECT count(*) FROM tpch.tiny.nation");
        queryRunner.execute("SELECT * FROM passing.cache.stats");
        assertThat(threads("passing")).isNotEmpty();
        assertThat(ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("cachedhive:name=passing,*"), null)).isNotEmpty();

        queryRunner.execute("DROP CATALOG passing");
        Await.untilAsserted("nothing is left", () -> {
            assertThat(threads("passing")).isEmpty();
            assertThat(ManagementFactory.getPlatformMBeanServer().queryNames(new ObjectName("cachedhive:name=passing,*"), null)).isEmpty();
        });
    }

    private static List<String> threads(String catalog)
    {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("cachedhive-") && name.contains(catalog))
                .toList();
    }

    @Test
    void testRefusesFileSystemCache()
    {
        assertThatThrownBy(() -> queryRunner.createCatalog("twice", "cachedhive", cacheProperties("fs.cache.enabled", "true", "fs.cache.directories", directory.toString())))
                .hasStackTraceContaining("docs/operations/migrate.md");
    }

    @Test
    void testPlainHiveWhenOff()
    {
        queryRunner.createCatalog("off", "cachedhive", cacheProperties("cachedhive.mode", "OFF"));
        queryRunner.execute("CREATE TABLE cachedhive.s.off AS SELECT * FROM tpch.tiny.region");
        String plan = (String) queryRunner.execute("EXPLAIN ANALYZE VERBOSE SELECT max(name) FROM off.s.off").getOnlyValue();
        assertThat(plan).doesNotContain(CounterNames.REQUESTED_BYTES);
        assertThatThrownBy(() -> queryRunner.execute("CALL off.system.preload_partition('s', 'off')"))
                .hasMessage("catalog off is read without the cache, because its mode is OFF: change cachedhive.mode, or CALL system.set_cache_mode('ON')");
    }

    @Test
    void testPlainHiveWithPermissionsByUser()
    {
        // base64 of 32 bytes
        String key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
        queryRunner.createCatalog("personal", "cachedhive", cacheProperties("s3.sse.type", "CUSTOMER", "s3.sse.customer-key", key));
        assertThatThrownBy(() -> queryRunner.execute("CALL personal.system.preload_partition('s', 't')"))
                .hasMessageStartingWith("catalog personal is read without the cache, because with s3.sse.type=CUSTOMER the origin decides by user");
        assertThat((String) getOnlyElement(queryRunner.execute("SELECT problem FROM personal.cache.stats")).getField(0))
                .startsWith("catalog personal is read without the cache");
    }

    private static long metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        assertThat(matcher.find()).as(name + " in " + plan).isTrue();
        return Long.parseLong(matcher.group(1));
    }
}
