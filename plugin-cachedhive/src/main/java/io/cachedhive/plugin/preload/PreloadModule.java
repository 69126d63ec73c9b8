package io.cachedhive.plugin.preload;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
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
        newSetBinder(binder, Procedure.class).addBinding().toProvider(PreloadPartitionProcedure.class).in(Scopes.SINGLETON);
        newSetBinder(binder, SystemTable.class).addBinding().to(PreloadsTable.class).in(Scopes.SINGLETON);
    }
}
