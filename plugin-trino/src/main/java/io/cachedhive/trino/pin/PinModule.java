package io.cachedhive.trino.pin;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import com.google.inject.multibindings.Multibinder;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.procedure.Procedure;

import static com.google.inject.multibindings.Multibinder.newSetBinder;

/**
 * For the coordinator.
 */
public final class PinModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        binder.bind(Pins.class).in(Scopes.SINGLETON);
        Multibinder<Procedure> procedures = newSetBinder(binder, Procedure.class);
        procedures.addBinding().toProvider(PinPartitionProcedure.class).in(Scopes.SINGLETON);
        procedures.addBinding().toProvider(UnpinPartitionProcedure.class).in(Scopes.SINGLETON);
        newSetBinder(binder, SystemTable.class, ForCache.class).addBinding().to(PinsTable.class).in(Scopes.SINGLETON);
    }
}
