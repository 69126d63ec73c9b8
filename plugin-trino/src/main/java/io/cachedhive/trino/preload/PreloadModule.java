package io.cachedhive.trino.preload;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import com.google.inject.multibindings.Multibinder;
import io.cachedhive.plugin.preload.PreloadJobs;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.procedure.Procedure;

import static com.google.inject.multibindings.Multibinder.newSetBinder;

/**
 * For the coordinator.
 */
public final class PreloadModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        binder.bind(PreloadJobs.class).in(Scopes.SINGLETON);
        binder.bind(Preloads.class).in(Scopes.SINGLETON);
        binder.bind(ScheduledPreloads.class).in(Scopes.SINGLETON);
        Multibinder<Procedure> procedures = newSetBinder(binder, Procedure.class);
        procedures.addBinding().toProvider(PreloadPartitionProcedure.class).in(Scopes.SINGLETON);
        procedures.addBinding().toProvider(PreloadTableProcedure.class).in(Scopes.SINGLETON);
        procedures.addBinding().toProvider(CancelPreloadProcedure.class).in(Scopes.SINGLETON);
        newSetBinder(binder, SystemTable.class, ForCache.class).addBinding().to(PreloadsTable.class).in(Scopes.SINGLETON);
    }
}
