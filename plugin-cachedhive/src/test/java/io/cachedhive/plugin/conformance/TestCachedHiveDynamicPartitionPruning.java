package io.cachedhive.plugin.conformance;

class TestCachedHiveDynamicPartitionPruning
        extends AbstractHiveDynamicPartitionPruning
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
