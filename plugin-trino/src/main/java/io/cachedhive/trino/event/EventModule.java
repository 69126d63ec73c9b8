package io.cachedhive.trino.event;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.cachedhive.plugin.event.CacheEvents;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;

import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static java.util.Objects.requireNonNull;

/**
 * Binds the events of the catalog and their table on the coordinator.
 */
public final class EventModule
        implements Module
{
    private final CacheEvents events;

    public EventModule(CacheEvents events)
    {
        this.events = requireNonNull(events, "events is null");
    }

    @Override
    public void configure(Binder binder)
    {
        binder.bind(CacheEvents.class).toInstance(events);
        newSetBinder(binder, SystemTable.class, ForCache.class).addBinding().to(EventsTable.class).in(Scopes.SINGLETON);
    }
}
