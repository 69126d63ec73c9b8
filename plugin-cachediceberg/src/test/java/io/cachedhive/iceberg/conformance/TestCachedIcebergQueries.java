package io.cachedhive.iceberg.conformance;

import io.cachedhive.hive.TestingCacheWorker;
import io.cachedhive.iceberg.CachedIcebergPlugin;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.AbstractTestQueries;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

import static io.airlift.testing.Closeables.closeAllSuppress;
import static io.trino.plugin.tpch.TpchMetadata.TINY_SCHEMA_NAME;
import static io.trino.testing.QueryAssertions.copyTpchTables;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static org.assertj.core.api.Assertions.assertThat;

/** Trino's queries over Iceberg tables that are read through the cache. */
@Tag("exhaustive")
class TestCachedIcebergQueries
        extends AbstractTestQueries
{
    @TempDir
    private static Path directory;

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        S3Server s3 = S3Server.builder().bucket("lake").start();
        closeAfterClass(s3);
        TestingCacheWorker worker = new TestingCacheWorker(directory, s3.clientProperties());
        closeAfterClass(worker);
        worker.start();
        DistributedQueryRunner queryRunner = DistributedQueryRunner.builder(testSessionBuilder().setCatalog("cachediceberg").setSchema("tpch").build())
                .setWorkerCount(2)
                .build();
        try {
            queryRunner.installPlugin(new TpchPlugin());
            queryRunner.createCatalog("tpch", "tpch", Map.of());
            queryRunner.installPlugin(new IcebergPlugin());
            queryRunner.installPlugin(new CachedIcebergPlugin());
            Map<String, String> properties = new HashMap<>(s3.clientProperties());
            properties.putAll(worker.catalogProperties());
            properties.putAll(Map.of(
                    "iceberg.catalog.type", "TESTING_FILE_METASTORE",
                    "hive.metastore.catalog.dir", "s3://lake/warehouse",
                    "fs.s3.enabled", "true"));
            queryRunner.createCatalog("cachediceberg", "cachediceberg", properties);
            queryRunner.execute("CREATE SCHEMA tpch");
            copyTpchTables(queryRunner, "tpch", TINY_SCHEMA_NAME, REQUIRED_TPCH_TABLES);
            return queryRunner;
        }
        catch (Throwable e) {
            closeAllSuppress(e, queryRunner);
            throw e;
        }
    }

    /** A suite that the cache does not serve would show nothing. */
    @Test
    void testTheCacheServes()
    {
        assertQuerySucceeds("SELECT * FROM orders");
        assertQuerySucceeds("SELECT * FROM orders");
        assertThat((String) computeActual("EXPLAIN ANALYZE VERBOSE SELECT count(DISTINCT comment) FROM orders").getOnlyValue())
                .contains("'" + CounterNames.RAM_HIT_BYTES + "' = LongCount{total=")
                .doesNotContain("'" + CounterNames.RAM_HIT_BYTES + "' = LongCount{total=0}");
    }
}
