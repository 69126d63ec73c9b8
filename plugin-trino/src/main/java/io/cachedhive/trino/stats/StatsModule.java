package io.cachedhive.trino.stats;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import com.google.inject.multibindings.Multibinder;
import io.cachedhive.plugin.counters.CacheStats;
import io.cachedhive.plugin.counters.HitRateSampler;
import io.cachedhive.plugin.counters.LocalExtraBytes;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;

import static com.google.inject.multibindings.Multibinder.newSetBinder;

/**
 * Binds the JMX bean on every node, and the tables on the coordinator.
 */
public final class StatsModule
        implements Module
{
    private final boolean coordinator;

    public StatsModule(boolean coordinator)
    {
        this.coordinator = coordinator;
    }

    @Override
    public void configure(Binder binder)
    {
        binder.bind(LocalExtraBytes.class).in(Scopes.SINGLETON);
        binder.bind(CacheStats.class).in(Scopes.SINGLETON);
        binder.bind(CacheStatsExporter.class).in(Scopes.SINGLETON);

        if (coordinator) {
            binder.bind(WorkerReports.class).in(Scopes.SINGLETON);
            binder.bind(HitRateSampler.class).in(Scopes.SINGLETON);
            Multibinder<SystemTable> tables = newSetBinder(binder, SystemTable.class, ForCache.class);
            tables.addBinding().to(SummaryTable.class).in(Scopes.SINGLETON);
            tables.addBinding().to(StatsTable.class).in(Scopes.SINGLETON);
            tables.addBinding().to(StatsDetailTable.class).in(Scopes.SINGLETON);
            tables.addBinding().to(NodesTable.class).in(Scopes.SINGLETON);
            tables.addBinding().to(SizingTable.class).in(Scopes.SINGLETON);
        }
    }
}
