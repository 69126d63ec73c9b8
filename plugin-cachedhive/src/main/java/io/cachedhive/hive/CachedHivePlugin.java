package io.cachedhive.hive;

import io.cachedhive.hive.connector.CachedHiveConnectorFactory;
import io.trino.spi.Plugin;
import io.trino.spi.connector.ConnectorFactory;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Trino's Hive connector, read through the cache.
 */
public final class CachedHivePlugin
        implements Plugin
{
    private final CachedHiveConnectorFactory factory;

    public CachedHivePlugin()
    {
        this(new CachedHiveConnectorFactory());
    }

    public CachedHivePlugin(CachedHiveConnectorFactory factory)
    {
        this.factory = requireNonNull(factory, "factory is null");
    }

    @Override
    public Iterable<ConnectorFactory> getConnectorFactories()
    {
        return List.of(factory);
    }
}
