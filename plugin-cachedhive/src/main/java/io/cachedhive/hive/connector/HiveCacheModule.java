package io.cachedhive.hive.connector;

import com.google.inject.Binder;
import com.google.inject.Scopes;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.cachedhive.hive.partition.HiveTableFiles;
import io.cachedhive.hive.preload.PreloadPlan;
import io.cachedhive.hive.release.ReleasingMetadataFactoryProvider;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.connector.CacheModule;
import io.cachedhive.trino.filesystem.CacheKeyModule;
import io.cachedhive.trino.partition.TableFiles;
import io.trino.plugin.hive.TransactionalMetadataFactory;

import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;
import static java.util.Objects.requireNonNull;

/**
 * Binds the cache into Hive's connector.
 */
final class HiveCacheModule
        extends AbstractConfigurationAwareModule
{
    private final CacheModule cache;
    private final boolean coordinator;

    HiveCacheModule(CacheModule cache, boolean coordinator)
    {
        this.coordinator = coordinator;
        this.cache = requireNonNull(cache, "cache is null");
    }

    @Override
    protected void setup(Binder binder)
    {
        install(cache);
        install(new CacheKeyModule());
        binder.bind(ConnectorAdapter.class).toInstance(new HiveAdapter());
        if (coordinator) {
            binder.bind(PreloadPlan.class).in(Scopes.SINGLETON);
            newOptionalBinder(binder, TransactionalMetadataFactory.class).setBinding().toProvider(ReleasingMetadataFactoryProvider.class).in(Scopes.SINGLETON);
            binder.bind(TableFiles.class).to(HiveTableFiles.class).in(Scopes.SINGLETON);
        }
    }
}
