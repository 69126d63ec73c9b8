package io.cachedhive.hive.conformance;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.cachedhive.testing.cluster.s3.S3Server;
import io.trino.plugin.hive.HiveStorageFormat;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.tpch.TpchTable;

import java.util.Map;
import java.util.function.Consumer;

import static io.airlift.testing.Closeables.closeAllSuppress;
import static io.trino.plugin.tpch.TpchMetadata.TINY_SCHEMA_NAME;
import static io.trino.testing.QueryAssertions.copyTpchTables;
import static io.trino.testing.TestingSession.testSessionBuilder;
import static java.util.Objects.requireNonNull;

/**
 * A coordinator and two workers in this JVM, with one Hive catalog of a {@link ConnectorUnderTest} over an S3 server in this JVM
 * and TPC-H tables in it. Metadata and data are both in the bucket, under the directory of the file metastore.
 */
final class TestingHiveCluster
{
    static final String SCHEMA = "tpch";

    private static final String FUNCTION_SCHEMA = "functions";
    private static final String BUCKET = "lake";

    private final ConnectorUnderTest connector;
    private final HiveStorageFormat storageFormat;
    private Iterable<TpchTable<?>> tables = ImmutableList.of();
    private Map<String, String> serverProperties = ImmutableMap.of();
    private Map<String, String> catalogProperties = ImmutableMap.of();

    /** Tables that are created without a format have this one. */
    TestingHiveCluster(ConnectorUnderTest connector, HiveStorageFormat storageFormat)
    {
        this.connector = requireNonNull(connector, "connector is null");
        this.storageFormat = requireNonNull(storageFormat, "storageFormat is null");
    }

    /** Tables of the tpch connector's schema tiny to be there from the start. */
    TestingHiveCluster setTables(Iterable<TpchTable<?>> tables)
    {
        this.tables = tables;
        return this;
    }

    TestingHiveCluster setServerProperties(Map<String, String> serverProperties)
    {
        this.serverProperties = serverProperties;
        return this;
    }

    TestingHiveCluster setCatalogProperties(Map<String, String> catalogProperties)
    {
        this.catalogProperties = catalogProperties;
        return this;
    }

    /** @param closeAfterClass takes what is to be closed after the returned query runner: the S3 server, and the connector's own processes */
    DistributedQueryRunner start(Consumer<AutoCloseable> closeAfterClass)
            throws Exception
    {
        S3Server s3 = S3Server.builder()
                .bucket(BUCKET)
                .start();
        closeAfterClass.accept(s3);
        closeAfterClass.accept(connector);

        DistributedQueryRunner queryRunner = DistributedQueryRunner.builder(testSessionBuilder()
                        .setCatalog(connector.name())
                        .setSchema(SCHEMA)
                        .build())
                .setWorkerCount(2)
                .setExtraProperties(serverProperties)
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
                    .put("hive.storage-format", storageFormat.name())
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
