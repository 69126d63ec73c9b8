package io.cachedhive.plugin.conformance;

class TestPlainHiveDynamicPartitionPruning
        extends AbstractHiveDynamicPartitionPruning
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
