package io.cachedhive.plugin.conformance;

class TestCachedHiveOrcBloomFilters
        extends AbstractHiveOrcBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
