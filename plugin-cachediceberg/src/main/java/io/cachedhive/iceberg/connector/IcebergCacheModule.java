package io.cachedhive.iceberg.connector;

import com.google.inject.Binder;
import com.google.inject.Provides;
import com.google.inject.Scopes;
import com.google.inject.Singleton;
import io.airlift.configuration.AbstractConfigurationAwareModule;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.cachedhive.trino.adapter.ScanFileSystems;
import io.cachedhive.trino.connector.CacheModule;
import io.trino.plugin.iceberg.IcebergFileSystemFactory;
import io.trino.plugin.iceberg.IcebergTableCredentials;

import static java.util.Objects.requireNonNull;

/**
 * Binds the cache into the Iceberg connector, which has keys of its own for all files that it reads.
 */
final class IcebergCacheModule
        extends AbstractConfigurationAwareModule
{
    private final CacheModule cache;

    IcebergCacheModule(CacheModule cache)
    {
        this.cache = requireNonNull(cache, "cache is null");
    }

    @Override
    protected void setup(Binder binder)
    {
        install(cache);
        binder.bind(ConnectorAdapter.class).to(IcebergAdapter.class).in(Scopes.SINGLETON);
    }

    @Provides
    @Singleton
    static ScanFileSystems createFileSystems(IcebergFileSystemFactory factory)
    {
        return (identity, credentials) -> factory.create(identity, (IcebergTableCredentials) credentials.orElseThrow());
    }
}
