package io.cachedhive.iceberg.connector;

import com.google.inject.Injector;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.trino.connector.CacheModule;
import io.cachedhive.trino.connector.CacheServices;
import io.cachedhive.trino.connector.CachedConnector;
import io.cachedhive.trino.connector.CatalogProperties;
import io.cachedhive.trino.connector.TrinoVersion;
import io.trino.plugin.iceberg.IcebergConnector;
import io.trino.plugin.iceberg.IcebergConnectorFactory;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

public final class CachedIcebergConnectorFactory
        implements ConnectorFactory
{
    // with these, the origin decides by user or by table who may read a file
    private static final Set<String> PER_USER_SWITCHES = Set.of("iceberg.rest-catalog.vended-credentials-enabled", "hive.hdfs.impersonation.enabled");

    private final Timeouts timeouts;

    public CachedIcebergConnectorFactory()
    {
        this(Timeouts.DEFAULT);
    }

    /**
     * @param timeouts of reads from cache workers and of other requests to them
     */
    public CachedIcebergConnectorFactory(Timeouts timeouts)
    {
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
    }

    @Override
    public String getName()
    {
        return "cachediceberg";
    }

    @Override
    public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
    {
        TrinoVersion.check(context.getSpiVersion());

        CatalogProperties properties = new CatalogProperties(catalogName, config, PER_USER_SWITCHES);
        properties.refuseFileSystemCache();

        boolean coordinator = context.getCurrentNode().isCoordinator();
        ClassLoader classLoader = CachedIcebergConnectorFactory.class.getClassLoader();
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(classLoader)) {
            IcebergConnector iceberg = (IcebergConnector) IcebergConnectorFactory.createConnector(
                    catalogName,
                    properties.withFileSystems(),
                    context,
                    new IcebergCacheModule(new CacheModule(catalogName, config, coordinator, properties.findPermissionsByUser(), timeouts)),
                    Optional.empty());
            Injector injector = iceberg.getInjector();
            return new CachedConnector(iceberg, injector.getInstance(CacheServices.class), catalogName, classLoader);
        }
    }
}
