package io.cachedhive.plugin;

import io.cachedhive.plugin.connector.CachedHiveConnectorFactory;
import io.trino.spi.Plugin;
import io.trino.spi.connector.ConnectorFactory;

import java.util.List;

/**
 * Trino's Hive connector, read through the cache.
 */
public final class CachedHivePlugin
        implements Plugin
{
    @Override
    public Iterable<ConnectorFactory> getConnectorFactories()
    {
        return List.of(new CachedHiveConnectorFactory());
    }
}
