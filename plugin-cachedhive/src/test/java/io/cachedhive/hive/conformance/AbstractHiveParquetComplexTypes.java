package io.cachedhive.hive.conformance;

import io.trino.testing.BaseComplexTypesPredicatePushDownTest;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;

import static io.trino.plugin.hive.HiveStorageFormat.PARQUET;

/** Row groups that are skipped by the statistics of nested columns of Parquet files. */
@Tag("conformance")
abstract class AbstractHiveParquetComplexTypes
        extends BaseComplexTypesPredicatePushDownTest
{
    abstract ConnectorUnderTest connector();

    @Override
    protected QueryRunner createQueryRunner()
            throws Exception
    {
        return new TestingHiveCluster(connector(), PARQUET)
                .start(this::closeAfterClass);
    }
}
