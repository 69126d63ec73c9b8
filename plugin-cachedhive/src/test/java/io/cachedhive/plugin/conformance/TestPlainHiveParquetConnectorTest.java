package io.cachedhive.plugin.conformance;

class TestPlainHiveParquetConnectorTest
        extends AbstractHiveParquetConnectorTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
