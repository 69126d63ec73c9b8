package io.cachedhive.hive.conformance;

class TestCachedHiveDynamicPartitionPruning
        extends AbstractHiveDynamicPartitionPruning
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
