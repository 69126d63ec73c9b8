package io.cachedhive.trino.connector;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.cachedhive.trino.flush.FlushDataCacheProcedure;
import io.cachedhive.trino.partition.TableFiles;
import io.cachedhive.trino.pin.PinModule;
import io.cachedhive.trino.preload.PreloadModule;
import io.trino.spi.procedure.Procedure;

import static com.google.inject.multibindings.Multibinder.newSetBinder;

/**
 * Binds the procedures for tables and their partitions on the coordinator of a connector that binds {@link TableFiles}.
 */
public final class TableProcedureModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        newSetBinder(binder, Procedure.class).addBinding().toProvider(FlushDataCacheProcedure.class).in(Scopes.SINGLETON);
        binder.install(new PreloadModule());
        binder.install(new PinModule());
    }
}
