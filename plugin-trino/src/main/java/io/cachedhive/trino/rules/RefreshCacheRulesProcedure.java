package io.cachedhive.trino.rules;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.rules.RulesException;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.TrinoException;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;

import java.lang.invoke.MethodHandle;
import java.util.List;

import static io.trino.spi.StandardErrorCode.CONFIGURATION_INVALID;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.refresh_cache_rules()}: puts the rules file as it is now into force, or says what is wrong with it.
 */
public final class RefreshCacheRulesProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle REFRESH_CACHE_RULES;

    static {
        try {
            REFRESH_CACHE_RULES = lookup().unreflect(RefreshCacheRulesProcedure.class.getMethod("refreshCacheRules", ConnectorSession.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final RuleRegistry book;
    private final ProcedureGuard guard;

    @Inject
    RefreshCacheRulesProcedure(RuleRegistry book, ProcedureGuard guard)
    {
        this.book = requireNonNull(book, "book is null");
        this.guard = requireNonNull(guard, "guard is null");
    }

    @Override
    public Procedure get()
    {
        return guard.restrict(new Procedure("system", "refresh_cache_rules", List.of(), REFRESH_CACHE_RULES.bindTo(this)));
    }

    /**
     * Called by the engine.
     */
    public void refreshCacheRules(ConnectorSession session)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            book.refresh();
        }
        catch (RulesException e) {
            throw new TrinoException(CONFIGURATION_INVALID, e.getMessage());
        }
    }
}
