package io.cachedhive.trino.contents;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import com.google.inject.multibindings.Multibinder;
import io.cachedhive.plugin.contents.CachedFiles;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;

import static com.google.inject.multibindings.Multibinder.newSetBinder;

/**
 * Binds the tables of cached files on the coordinator.
 */
public final class ContentsModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        binder.bind(CachedFiles.class).in(Scopes.SINGLETON);
        Multibinder<SystemTable> tables = newSetBinder(binder, SystemTable.class, ForCache.class);
        tables.addBinding().to(FilesTable.class).in(Scopes.SINGLETON);
        tables.addBinding().to(TablesTable.class).in(Scopes.SINGLETON);
        tables.addBinding().to(PartitionsTable.class).in(Scopes.SINGLETON);
    }
}
