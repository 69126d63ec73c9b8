package io.cachedhive.plugin.conformance;

class TestPlainHiveParquetComplexTypes
        extends AbstractHiveParquetComplexTypes
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
