package io.cachedhive.plugin.conformance;

class TestPlainHiveQueries
        extends AbstractHiveQueries
{
    @Override
    ConnectorUnderTest connector()
    {
        return new PlainHive();
    }
}
