package io.cachedhive.plugin;

import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.quickstart.s3.S3Server;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.airlift.testing.Closeables.closeAll;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * No cache worker runs: every query is right, and every byte is a bypass.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TestReadsWithoutWorker
{
    private S3Server s3;
    private DistributedQueryRunner queryRunner;

    @BeforeAll
    void start()
            throws Exception
    {
        s3 = S3Server.builder().bucket("lake").start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(1)
                .build();
        queryRunner.installPlugin(new TpchPlugin());
        queryRunner.createCatalog("tpch", "tpch", Map.of());
        queryRunner.installPlugin(new HivePlugin());
        queryRunner.installPlugin(new CachedHivePlugin());
        queryRunner.createCatalog("cachedhive", "cachedhive", hiveProperties());
        queryRunner.createCatalog("hive", "hive", hiveProperties());
        queryRunner.execute("CREATE SCHEMA cachedhive.s");
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
        closeAll(queryRunner, s3);
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

    private static long metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        assertThat(matcher.find()).as(name + " in " + plan).isTrue();
        return Long.parseLong(matcher.group(1));
    }
}
