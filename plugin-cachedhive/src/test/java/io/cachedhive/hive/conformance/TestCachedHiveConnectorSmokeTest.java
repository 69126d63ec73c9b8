package io.cachedhive.hive.conformance;

import org.junit.jupiter.api.Tag;

@Tag("slow")
class TestCachedHiveConnectorSmokeTest
        extends AbstractHiveConnectorSmokeTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new CachedHive();
    }
}
