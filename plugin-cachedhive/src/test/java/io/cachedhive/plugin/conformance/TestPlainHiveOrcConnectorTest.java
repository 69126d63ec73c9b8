package io.cachedhive.plugin.conformance;

class TestPlainHiveOrcConnectorTest
        extends AbstractHiveOrcConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
