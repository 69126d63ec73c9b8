package io.cachedhive.hive.conformance;

class TestCachedHiveOrcConnectorTest
        extends AbstractHiveOrcConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
