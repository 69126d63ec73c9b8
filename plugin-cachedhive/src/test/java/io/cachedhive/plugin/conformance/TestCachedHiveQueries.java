package io.cachedhive.plugin.conformance;

class TestCachedHiveQueries
        extends AbstractHiveQueries
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
