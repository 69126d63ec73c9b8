package io.cachedhive.plugin.conformance;

class TestPlainHiveConnectorTest
        extends AbstractHiveConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
