package io.cachedhive.plugin.conformance;

class TestCachedHiveParquetBloomFilters
        extends AbstractHiveParquetBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
