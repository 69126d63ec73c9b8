package io.cachedhive.hive.conformance;

class TestCachedHiveQueries
        extends AbstractHiveQueries
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
