package io.cachedhive.trino.filesystem;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.trino.filesystem.cache.CacheKeyProvider;

import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;

/**
 * For connectors that bring no keys of their own: Trino asks its cache for no file without one.
 */
public final class CacheKeyModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        newOptionalBinder(binder, CacheKeyProvider.class).setBinding().to(ReadContextCacheKeyProvider.class).in(Scopes.SINGLETON);
    }
}
