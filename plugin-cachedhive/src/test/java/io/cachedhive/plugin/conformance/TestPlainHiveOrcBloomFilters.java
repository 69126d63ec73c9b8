package io.cachedhive.plugin.conformance;

class TestPlainHiveOrcBloomFilters
        extends AbstractHiveOrcBloomFilters
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
