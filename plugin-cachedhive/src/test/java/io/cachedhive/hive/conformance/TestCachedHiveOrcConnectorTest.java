package io.cachedhive.hive.conformance;

import org.junit.jupiter.api.Tag;

// with Parquet, the same suite runs with each change
@Tag("exhaustive")
class TestCachedHiveOrcConnectorTest
        extends AbstractHiveOrcConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
