package io.cachedhive.plugin.conformance;

class TestCachedHiveParquetComplexTypes
        extends AbstractHiveParquetComplexTypes
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
