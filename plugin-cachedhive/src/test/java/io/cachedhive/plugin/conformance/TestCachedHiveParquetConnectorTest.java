package io.cachedhive.plugin.conformance;

class TestCachedHiveParquetConnectorTest
        extends AbstractHiveParquetConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
