package io.cachedhive.hive.connector;

import com.google.common.collect.Maps;
import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Scopes;
import com.google.inject.Singleton;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.cachedhive.hive.partition.HiveTableFiles;
import io.cachedhive.hive.preload.PreloadPlan;
import io.cachedhive.hive.release.ReleasingMetadataFactoryProvider;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.adapter.ScanFileSystems;
import io.cachedhive.trino.connector.CacheModule;
import io.cachedhive.trino.connector.TableProcedureModule;
import io.cachedhive.trino.filesystem.CacheKeyModule;
import io.cachedhive.trino.partition.TableFiles;
import io.cachedhive.trino.preload.ScheduledPreloads.TableSource;
import io.trino.filesystem.TrinoFileSystemFactory;
import io.trino.plugin.hive.TransactionalMetadataFactory;

import java.util.Map;

import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;
import static java.util.Objects.requireNonNull;

/**
 * Binds the cache into Hive's connector.
 */
final class HiveCacheModule
        extends AbstractConfigurationAwareModule
{
    private final CacheModule cache;
    private final Map<String, String> properties;
    private final boolean coordinator;

    /**
     * @param properties of the catalog
     */
    HiveCacheModule(CacheModule cache, Map<String, String> properties, boolean coordinator)
    {
        this.cache = requireNonNull(cache, "cache is null");
        this.properties = requireNonNull(properties, "properties is null");
        this.coordinator = coordinator;
    }

    @Override
    protected void setup(Binder binder)
    {
        install(cache);
        install(new CacheKeyModule());
        binder.bind(ConnectorAdapter.class).toInstance(new HiveAdapter());
        if (coordinator) {
            install(new TableProcedureModule());
            binder.bind(TableSource.class).toInstance(new TableSource(Maps.filterKeys(properties, name -> name.startsWith("hive.metastore"))));
            binder.bind(PreloadPlan.class).in(Scopes.SINGLETON);
            newOptionalBinder(binder, TransactionalMetadataFactory.class).setBinding().toProvider(ReleasingMetadataFactoryProvider.class).in(Scopes.SINGLETON);
            binder.bind(TableFiles.class).to(HiveTableFiles.class).in(Scopes.SINGLETON);
        }
    }

    @Provides
    @Singleton
    static ScanFileSystems createFileSystems(TrinoFileSystemFactory factory)
    {
        return (identity, _) -> factory.create(identity);
    }
}
