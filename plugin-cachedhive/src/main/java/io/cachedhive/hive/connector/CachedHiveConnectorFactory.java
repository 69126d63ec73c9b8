package io.cachedhive.hive.connector;

import com.google.inject.Injector;
import io.cachedhive.transport.Timeouts;
import io.cachedhive.trino.connector.CacheModule;
import io.cachedhive.trino.connector.CacheServices;
import io.cachedhive.trino.connector.CachedConnector;
import io.cachedhive.trino.connector.CatalogProperties;
import io.cachedhive.trino.connector.ScheduleConnectorContext;
import io.cachedhive.trino.connector.TrinoVersion;
import io.trino.metastore.HiveMetastore;
import io.trino.plugin.hive.HiveConnector;
import io.trino.plugin.hive.HiveConnectorFactory;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;

public final class CachedHiveConnectorFactory
        implements ConnectorFactory
{
    private final Optional<HiveMetastore> metastore;
    private final Timeouts timeouts;

    public CachedHiveConnectorFactory()
    {
        this(Optional.empty(), Timeouts.DEFAULT);
    }

    /**
     * @param metastore used in place of the metastore that the catalog's properties name
     * @param timeouts of reads from cache workers and of other requests to them
     */
    public CachedHiveConnectorFactory(Optional<HiveMetastore> metastore, Timeouts timeouts)
    {
        this.metastore = requireNonNull(metastore, "metastore is null");
        this.timeouts = requireNonNull(timeouts, "timeouts is null");
    }

    @Override
    public String getName()
    {
        return "cachedhive";
    }

    @Override
    public Connector create(String catalogName, Map<String, String> config, ConnectorContext context)
    {
        TrinoVersion.check(context.getSpiVersion());

        CatalogProperties properties = new CatalogProperties(catalogName, config, Set.of("hive.hdfs.impersonation.enabled"));
        properties.refuseFileSystemCache();

        boolean coordinator = context.getCurrentNode().isCoordinator();
        ClassLoader classLoader = CachedHiveConnectorFactory.class.getClassLoader();
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(classLoader)) {
            HiveConnector hive = (HiveConnector) HiveConnectorFactory.createConnector(
                    catalogName,
                    properties.withFileSystems(),
                    new ScheduleConnectorContext(context),
                    () -> new HiveCacheModule(
                            new CacheModule(catalogName, config, coordinator, properties.findPermissionsByUser(), timeouts),
                            config,
                            coordinator),
                    metastore,
                    false,
                    Optional.empty());
            Injector injector = hive.getInjector();
            return new CachedConnector(hive, injector.getInstance(CacheServices.class), catalogName, classLoader);
        }
    }
}
