package io.cachedhive.plugin.conformance;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.quickstart.s3.S3Server;
import io.trino.testing.AbstractTestQueries;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;

/** Trino's queries over Parquet tables. {@link AbstractHiveConnectorTest} runs the same queries over ORC. */
@Tag("conformance")
abstract class AbstractHiveQueries
        extends AbstractTestQueries
{
    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        S3Server s3 = closeAfterClass(TestingHiveCluster.startS3());
        ConnectorUnderTest connector = closeAfterClass(connector());
        return TestingHiveCluster.start(s3, connector, ImmutableMap.of("hive.storage-format", "PARQUET"), REQUIRED_TPCH_TABLES);
    }
}
