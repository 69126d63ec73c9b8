package io.cachedhive.plugin.connector;

import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Scopes;
import com.google.inject.Singleton;
import com.google.inject.TypeLiteral;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.airlift.log.Logger;
import io.cachedhive.client.CacheClientConfig;
import io.cachedhive.client.connection.ClientIdentity;
import io.cachedhive.client.connection.Timeouts;
import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.plugin.filesystem.FileSystemCacheModule;
import io.cachedhive.plugin.filesystem.NodeCacheClient;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.preload.PreloadModule;
import io.cachedhive.plugin.split.RingView;
import io.cachedhive.plugin.stats.StatsModule;
import io.trino.plugin.base.session.SessionPropertiesProvider;
import io.trino.spi.Node;
import io.trino.spi.NodeManager;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.SystemTable;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static io.airlift.configuration.ConfigBinder.configBinder;
import static java.util.Objects.requireNonNull;

/**
 * Binds the cache into Hive's connector.
 */
final class CachedHiveModule
        extends AbstractConfigurationAwareModule
{
    private static final Logger log = Logger.get(CachedHiveModule.class);

    private final Map<String, String> properties;
    private final boolean coordinator;
    private final Optional<String> permissionsByUser;

    /**
     * @param permissionsByUser why the catalog is not cached unless permissions are declared to be shared
     */
    CachedHiveModule(Map<String, String> properties, boolean coordinator, Optional<String> permissionsByUser)
    {
        this.properties = Map.copyOf(properties);
        this.coordinator = coordinator;
        this.permissionsByUser = requireNonNull(permissionsByUser, "permissionsByUser is null");
    }

    @Override
    protected void setup(Binder binder)
    {
        configBinder(binder).bindConfig(CachedHiveConfig.class);

        install(new FileSystemCacheModule());
        newSetBinder(binder, SessionPropertiesProvider.class).addBinding().to(CacheSessionProperties.class).in(Scopes.SINGLETON);

        newSetBinder(binder, SystemTable.class);
        install(new StatsModule(coordinator));
        if (coordinator) {
            install(new MembershipModule());
            install(new PreloadModule());
        }
        else {
            // only the coordinator plans
            binder.bind(new TypeLiteral<Supplier<RingView>>() {}).toInstance(() -> RingView.EMPTY);
        }
        binder.bind(ConnectorExtensions.class).in(Scopes.SINGLETON);
    }

    @Provides
    @Singleton
    CacheDecisions createCacheDecisions(CachedHiveConfig config)
    {
        Optional<String> problem = permissionsByUser.filter(_ -> !config.isSharedPermissions());
        problem.ifPresent(log::warn);
        return new CacheDecisions(config.getMode(), problem);
    }

    @Provides
    @Singleton
    FileOrigins createFileOrigins(CachedHiveConfig config)
    {
        return FileOrigins.of(config.getOrigin(), properties, config.isCacheLocalFiles());
    }

    @Provides
    @Singleton
    ClientIdentity createClientIdentity(CachedHiveConfig config, CatalogName catalog, Node node, FileOrigins origins)
    {
        return new ClientIdentity(config.getClusterName(), catalog.toString(), node.getNodeIdentifier(), origins.origins(), config.getSharedSecret());
    }

    @Provides
    @Singleton
    SharedWorkerAdmin createWorkerAdmin(ClientIdentity identity)
    {
        return new SharedWorkerAdmin(identity, Timeouts.DEFAULT);
    }

    @Provides
    @Singleton
    NodeCacheClient createCacheClient(CachedHiveConfig config, ClientIdentity identity, CacheDecisions decisions, Node node, NodeManager nodeManager)
    {
        NodeCacheClient client = new NodeCacheClient(new CacheClientConfig(Path.of(config.getWorkerSocketPath()), identity, config.getChunkSize().toBytes()));
        if (decisions.mayCache() && (!coordinator || nodeManager.getWorkerNodes().contains(node))) {
            // a node that will read: the first query shall find the cache worker connected
            client.get();
        }
        return client;
    }
}
