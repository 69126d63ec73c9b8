package io.cachedhive.plugin.connector;

import com.google.inject.Injector;
import io.cachedhive.transport.Timeouts;
import io.trino.metastore.HiveMetastore;
import io.trino.plugin.hive.HiveConnector;
import io.trino.plugin.hive.HiveConnectorFactory;
import io.trino.spi.TrinoException;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.Connector;
import io.trino.spi.connector.ConnectorContext;
import io.trino.spi.connector.ConnectorFactory;

import java.util.Map;
import java.util.Optional;

import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static java.util.Objects.requireNonNull;

public final class CachedHiveConnectorFactory
        implements ConnectorFactory
{
    /**
     * The plugin brings Trino's Hive connector of this version along, which uses interfaces that change from one version to the next.
     */
    private static final String TRINO_VERSION = "483";

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
        // before anything else: in another version classes may be missing
        checkTrinoVersion(context.getSpiVersion());

        CatalogProperties properties = new CatalogProperties(catalogName, config);
        properties.refuseFileSystemCache();

        ClassLoader classLoader = CachedHiveConnectorFactory.class.getClassLoader();
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(classLoader)) {
            HiveConnector hive = (HiveConnector) HiveConnectorFactory.createConnector(
                    catalogName,
                    config,
                    context,
                    () -> new CachedHiveModule(catalogName, config, context.getCurrentNode().isCoordinator(), properties.findPermissionsByUser(), timeouts),
                    metastore,
                    false,
                    Optional.empty());
            Injector injector = hive.getInjector();
            return new CachedHiveConnector(hive, injector.getInstance(ConnectorExtensions.class), catalogName, classLoader);
        }
    }

    static void checkTrinoVersion(String version)
    {
        if (!version.equals(TRINO_VERSION)) {
            throw new TrinoException(NOT_SUPPORTED, "This cachedhive plugin works with Trino %s only, and this is Trino %s: install the plugin that was built for it"
                    .formatted(TRINO_VERSION, version));
        }
    }
}
