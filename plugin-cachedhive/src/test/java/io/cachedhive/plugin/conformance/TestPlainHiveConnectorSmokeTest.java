package io.cachedhive.plugin.conformance;

import org.junit.jupiter.api.Tag;

@Tag("conformance")
class TestPlainHiveConnectorSmokeTest
        extends AbstractHiveConnectorSmokeTest
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
