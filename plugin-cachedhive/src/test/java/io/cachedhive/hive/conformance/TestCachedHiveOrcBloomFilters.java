package io.cachedhive.hive.conformance;

class TestCachedHiveOrcBloomFilters
        extends AbstractHiveOrcBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
