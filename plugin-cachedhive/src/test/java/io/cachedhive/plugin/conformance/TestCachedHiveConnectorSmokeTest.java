package io.cachedhive.plugin.conformance;

class TestCachedHiveConnectorSmokeTest
        extends AbstractHiveConnectorSmokeTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
