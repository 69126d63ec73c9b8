package io.cachedhive.hive;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.config.NodeSelectionStrategy;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.Session;
import io.trino.plugin.hive.HivePlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.airlift.testing.Closeables.closeAll;
import static io.cachedhive.plugin.config.NodeSelectionStrategy.NO_PREFERENCE;
import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code retry-policy=TASK}: the engine asks a split for its nodes once, makes tasks of splits for the same node, and keeps both for further attempts.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("slow")
class TestFaultTolerantReads
{
    private S3Server s3;
    private TestingCacheWorker worker;
    private DistributedQueryRunner queryRunner;

    @BeforeAll
    void start(@TempDir Path directory)
            throws Exception
    {
        s3 = S3Server.builder().bucket("lake").start();
        worker = new TestingCacheWorker(Files.createDirectory(directory.resolve("worker")), s3.clientProperties());
        worker.start();
        queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachedhive").setSchema("s").build())
                .setWorkerCount(2)
                .addExtraProperty("retry-policy", "TASK")
                // nodes of this size run one task of the default size after another
                .addExtraProperty("fault-tolerant-execution-task-memory", "64MB")
                .withExchange("filesystem")
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
        queryRunner.execute("CREATE SCHEMA hive.s");
        queryRunner.execute("CREATE TABLE hive.s.lineitem WITH (format = 'ORC') AS SELECT * FROM tpch.tiny.lineitem");
        queryRunner.execute("CREATE TABLE hive.s.orders WITH (format = 'PARQUET', partitioned_by = ARRAY['orderstatus']) AS " +
                "SELECT orderkey, custkey, totalprice, orderstatus FROM tpch.tiny.orders");
        queryRunner.execute("CREATE TABLE hive.s.bucketed WITH (format = 'ORC', bucketed_by = ARRAY['custkey'], bucket_count = 4) AS " +
                "SELECT custkey, name FROM tpch.tiny.customer");
        awaitRing();
    }

    @AfterAll
    void stop()
            throws Exception
    {
        closeAll(queryRunner, worker, s3);
    }

    private void awaitRing()
    {
        Await.until("there is a ring", DEADLINE, QUERY_PAUSE, () ->
                (long) queryRunner.execute("SELECT count(*) FROM cachedhive.cache.nodes WHERE ring_share > 0").getOnlyValue() > 0);
    }

    @ParameterizedTest
    @EnumSource
    void testStrategies(NodeSelectionStrategy strategy)
    {
        Session session = testSessionBuilder(queryRunner.getDefaultSession())
                .setCatalogSessionProperty("cachedhive", "node_selection_strategy", strategy.name())
                .build();
        String query =
                """
                SELECT o.orderstatus, count(*), sum(l.quantity), max(c.name)
                FROM %1$s.s.lineitem l JOIN %1$s.s.orders o ON l.orderkey = o.orderkey JOIN %1$s.s.bucketed c ON o.custkey = c.custkey
                GROUP BY o.orderstatus ORDER BY o.orderstatus
                """;
        assertThat(queryRunner.execute(session, query.formatted("cachedhive")).getMaterializedRows())
                .isEqualTo(queryRunner.execute(session, query.formatted("hive")).getMaterializedRows());

        String plan = (String) queryRunner.execute(session, "EXPLAIN ANALYZE VERBOSE SELECT max(comment) FROM cachedhive.s.lineitem").getOnlyValue();
        assertThat(metric(plan, CounterNames.REQUESTED_BYTES)).as(plan).isPositive();
        if (strategy == NO_PREFERENCE) {
            assertThat(metric(plan, "splits_at_owner")).as(plan).isZero();
            assertThat(metric(plan, "splits_without_owner")).as(plan).isPositive();
        }
        else {
            assertThat(metric(plan, "splits_at_owner")).as(plan).isPositive();
            assertThat(metric(plan, "splits_without_owner")).as(plan).isZero();
        }
        assertThat(metric(plan, CounterNames.BYPASS_BYTES)).as(plan).isZero();
    }

    @Test
    void testWrites()
    {
        queryRunner.execute("CREATE TABLE cachedhive.s.copy AS SELECT * FROM cachedhive.s.lineitem");
        assertThat(queryRunner.execute("SELECT count(*), sum(orderkey) FROM cachedhive.s.copy").getMaterializedRows())
                .isEqualTo(queryRunner.execute("SELECT count(*), sum(orderkey) FROM tpch.tiny.lineitem").getMaterializedRows());
    }

    private static long metric(String plan, String name)
    {
        Matcher matcher = Pattern.compile("'%s' = LongCount\\{total=(\\d+)}".formatted(name)).matcher(plan);
        assertThat(matcher.find()).as(name + " in " + plan).isTrue();
        return Long.parseLong(matcher.group(1));
    }
}
