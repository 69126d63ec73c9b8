package io.cachedhive.hive.conformance;

class TestCachedHiveParquetBloomFilters
        extends AbstractHiveParquetBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
