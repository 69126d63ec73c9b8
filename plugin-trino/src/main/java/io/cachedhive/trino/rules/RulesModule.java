package io.cachedhive.trino.rules;

import com.google.inject.Binder;
import com.google.inject.Module;
import com.google.inject.Scopes;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.trino.table.ForCache;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.procedure.Procedure;

import static com.google.inject.multibindings.Multibinder.newSetBinder;
import static java.util.Objects.requireNonNull;

/**
 * For the coordinator.
 */
public final class RulesModule
        implements Module
{
    private final RuleRegistry book;

    public RulesModule(RuleRegistry book)
    {
        this.book = requireNonNull(book, "book is null");
    }

    @Override
    public void configure(Binder binder)
    {
        binder.bind(RuleRegistry.class).toInstance(book);
        newSetBinder(binder, Procedure.class).addBinding().toProvider(RefreshCacheRulesProcedure.class).in(Scopes.SINGLETON);
        newSetBinder(binder, SystemTable.class, ForCache.class).addBinding().to(RulesTable.class).in(Scopes.SINGLETON);
    }
}
