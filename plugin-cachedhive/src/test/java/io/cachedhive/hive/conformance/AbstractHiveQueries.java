package io.cachedhive.hive.conformance;

import io.trino.testing.AbstractTestQueries;
import io.trino.testing.QueryRunner;
import org.junit.jupiter.api.Tag;

import static io.trino.plugin.hive.HiveStorageFormat.PARQUET;

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
        return new TestingHiveCluster(connector(), PARQUET)
                .setTables(REQUIRED_TPCH_TABLES)
                .start(this::closeAfterClass);
    }
}
