package io.cachedhive.trino.filesystem;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.trino.filesystem.cache.TrinoFileSystemCache;

import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;

/**
 * Puts this package in the place of Trino's own file-system cache. No other package knows those interfaces.
 */
public final class FileSystemCacheModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        newOptionalBinder(binder, TrinoFileSystemCache.class).setBinding().to(CachedHiveFileSystemCache.class).in(Scopes.SINGLETON);
    }
}
