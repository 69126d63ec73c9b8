package io.cachedhive.plugin.conformance;

class TestPlainHiveParquetBloomFilters
        extends AbstractHiveParquetBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
