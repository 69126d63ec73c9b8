package io.cachedhive.hive.conformance;

import org.junit.jupiter.api.Tag;

// the other side of the conformance report
@Tag("exhaustive")
class TestPlainHiveDynamicPartitionPruning
        extends AbstractHiveDynamicPartitionPruning
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
