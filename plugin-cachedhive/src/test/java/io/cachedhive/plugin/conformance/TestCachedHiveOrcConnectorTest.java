package io.cachedhive.plugin.conformance;

class TestCachedHiveOrcConnectorTest
        extends AbstractHiveOrcConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
