package io.cachedhive.iceberg;

import io.cachedhive.iceberg.connector.CachedIcebergConnectorFactory;
import io.trino.spi.Plugin;
import io.trino.spi.connector.ConnectorFactory;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * Trino's Iceberg connector, read through the cache.
 *
 * <p>It brings no functions. The engine accepts each function once, and those that the Iceberg connector needs come with Trino's own Iceberg plugin.
 */
public final class CachedIcebergPlugin
        implements Plugin
{
    private final CachedIcebergConnectorFactory factory;

    public CachedIcebergPlugin()
    {
        this(new CachedIcebergConnectorFactory());
    }

    public CachedIcebergPlugin(CachedIcebergConnectorFactory factory)
    {
        this.factory = requireNonNull(factory, "factory is null");
    }

    @Override
    public Iterable<ConnectorFactory> getConnectorFactories()
    {
        return List.of(factory);
    }
}
