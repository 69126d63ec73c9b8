package io.cachedhive.engine.query;

import com.google.inject.Binder;
import com.google.inject.Module;
import io.trino.execution.QueryManager;
import io.trino.spi.connector.SystemTable;

import static com.google.inject.Scopes.SINGLETON;
import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static com.google.inject.multibindings.OptionalBinder.newOptionalBinder;

/**
 * Adds the table {@code cache.queries} to the global {@code system} catalog.
 */
public final class QueriesModule
        implements Module
{
    @Override
    public void configure(Binder binder)
    {
        // bound on the coordinator only
        newOptionalBinder(binder, QueryManager.class);
        binder.bind(QueryRecorder.class).in(SINGLETON);
        newSetBinder(binder, SystemTable.class).addBinding().to(QueriesTable.class).in(SINGLETON);
    }
}
