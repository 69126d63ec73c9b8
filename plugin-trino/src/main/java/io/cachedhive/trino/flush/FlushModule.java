package io.cachedhive.trino.flush;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.trino.spi.procedure.Procedure;

import static com.google.inject.multibindings.Multibinder.newSetBinder;

/**
 * For the coordinator.
 */
public final class FlushModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        binder.bind(Flusher.class).in(Scopes.SINGLETON);
        newSetBinder(binder, Procedure.class).addBinding().toProvider(FlushLocationProcedure.class).in(Scopes.SINGLETON);
    }
}
