package io.cachedhive.hive.conformance;

import org.junit.jupiter.api.Tag;

// the other side of the conformance report
@Tag("exhaustive")
class TestPlainHiveOrcBloomFilters
        extends AbstractHiveOrcBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
