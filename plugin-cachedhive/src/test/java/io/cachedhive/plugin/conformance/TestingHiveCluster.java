package io.cachedhive.plugin.conformance;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.quickstart.s3.S3Server;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.tpch.TpchTable;

import java.util.List;
import java.util.Map;

import static io.airlift.testing.Closeables.closeAllSuppress;
import static io.trino.plugin.tpch.TpchMetadata.TINY_SCHEMA_NAME;
import static io.trino.testing.QueryAssertions.copyTpchTables;
import static io.trino.testing.TestingSession.testSessionBuilder;

/**
 * A coordinator and two workers in this JVM, with one Hive catalog of a {@link ConnectorUnderTest} over an S3 server
 * and TPC-H tables in it. Metadata and data are both in the bucket, under the directory of the file metastore.
 */
final class TestingHiveCluster
{
    static final String SCHEMA = "tpch";
    static final String FUNCTION_SCHEMA = "functions";

    private static final String BUCKET = "lake";

    private TestingHiveCluster() {}

    /** An S3 server in this JVM, with its objects on the heap. */
    static S3Server startS3()
    {
        return S3Server.builder()
                .bucket(BUCKET)
                .start();
    }

    /** The S3 server and the connector's own processes outlive the returned query runner: the caller closes them after it. */
    static DistributedQueryRunner start(S3Server s3, ConnectorUnderTest connector, Map<String, String> catalogProperties, List<TpchTable<?>> tables)
            throws Exception
    {
        DistributedQueryRunner queryRunner = DistributedQueryRunner.builder(testSessionBuilder()
                        .setCatalog(connector.name())
                        .setSchema(SCHEMA)
                        .build())
                .setWorkerCount(2)
                // where CREATE FUNCTION puts functions, and where they are looked up
                .addExtraProperty("sql.path", "%s.%s".formatted(connector.name(), FUNCTION_SCHEMA))
                .addExtraProperty("sql.default-function-catalog", connector.name())
                .addExtraProperty("sql.default-function-schema", FUNCTION_SCHEMA)
                .build();
        try {
            queryRunner.installPlugin(new TpchPlugin());
            queryRunner.createCatalog("tpch", "tpch", Map.of());

            connector.install(queryRunner, s3);
            queryRunner.createCatalog(connector.name(), connector.name(), ImmutableMap.<String, String>builder()
                    .put("hive.metastore", "file")
                    .put("hive.metastore.catalog.dir", "s3://%s/warehouse".formatted(BUCKET))
                    .put("hive.security", "allow-all")
                    .put("fs.s3.enabled", "true")
                    .putAll(s3.clientProperties())
                    .putAll(connector.catalogProperties())
                    .putAll(catalogProperties)
                    .buildOrThrow());
            queryRunner.execute("CREATE SCHEMA " + SCHEMA);
            queryRunner.execute("CREATE SCHEMA " + FUNCTION_SCHEMA);
            copyTpchTables(queryRunner, "tpch", TINY_SCHEMA_NAME, tables);
            return queryRunner;
        }
        catch (Throwable e) {
            closeAllSuppress(e, queryRunner);
            throw e;
        }
    }
}
