package io.cachedhive.hive.conformance;

class TestCachedHiveParquetConnectorTest
        extends AbstractHiveParquetConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
