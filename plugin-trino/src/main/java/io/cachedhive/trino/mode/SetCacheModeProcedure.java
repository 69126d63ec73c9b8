package io.cachedhive.trino.mode;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.plugin.mode.CacheMode;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.TrinoException;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;

import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * {@code CALL system.set_cache_mode(mode)}: for scans that begin from now on, until the coordinator ends, or until {@code DEFAULT} brings back what the rules
 * file or the catalog's properties say.
 */
public final class SetCacheModeProcedure
        implements Provider<Procedure>
{
    private static final String DEFAULT = "DEFAULT";
    private static final MethodHandle SET_CACHE_MODE;

    static {
        try {
            SET_CACHE_MODE = lookup().unreflect(SetCacheModeProcedure.class.getMethod("setCacheMode", ConnectorSession.class, String.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final CacheDecisions decisions;
    private final ProcedureGuard guard;

    @Inject
    SetCacheModeProcedure(CacheDecisions decisions, ProcedureGuard guard)
    {
        this.decisions = requireNonNull(decisions, "decisions is null");
        this.guard = requireNonNull(guard, "guard is null");
    }

    @Override
    public Procedure get()
    {
        return guard.restrict(new Procedure("system", "set_cache_mode", List.of(new Argument("MODE", VARCHAR)), SET_CACHE_MODE.bindTo(this)));
    }

    /**
     * Called by the engine.
     */
    public void setCacheMode(ConnectorSession session, String mode)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            checkProcedureArgument(mode != null, "mode cannot be null");
            decisions.setMode(parse(mode));
        }
    }

    private static Optional<CacheMode> parse(String mode)
    {
        String name = mode.strip().toUpperCase(Locale.ENGLISH);
        if (name.equals(DEFAULT)) {
            return Optional.empty();
        }
        return Optional.of(Arrays.stream(CacheMode.values())
                .filter(known -> known.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new TrinoException(INVALID_PROCEDURE_ARGUMENT, "mode is none of %s, %s: %s".formatted(
                        Arrays.stream(CacheMode.values()).map(CacheMode::name).collect(joining(", ")),
                        DEFAULT,
                        mode))));
    }
}
