package io.cachedhive.hive.conformance;

class TestCachedHiveParquetComplexTypes
        extends AbstractHiveParquetComplexTypes
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
