package io.cachedhive.trino.preload;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;

import java.lang.invoke.MethodHandle;
import java.util.List;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.cancel_preload(job)}: no more of it is fetched. What it has loaded stays.
 */
public final class CancelPreloadProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle CANCEL_PRELOAD;

    static {
        try {
            CANCEL_PRELOAD = lookup().unreflect(CancelPreloadProcedure.class.getMethod("cancelPreload", ConnectorSession.class, ConnectorAccessControl.class, String.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final Preloads preloads;
    private final ProcedureGuard guard;

    @Inject
    CancelPreloadProcedure(Preloads preloads, ProcedureGuard guard)
    {
        this.preloads = requireNonNull(preloads, "preloads is null");
        this.guard = requireNonNull(guard, "guard is null");
    }

    @Override
    public Procedure get()
    {
        return guard.audit(new Procedure("system", "cancel_preload", List.of(new Argument("JOB", VARCHAR)), CANCEL_PRELOAD.bindTo(this)));
    }

    /**
     * Called by the engine.
     */
    public void cancelPreload(ConnectorSession session, ConnectorAccessControl accessControl, String job)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            checkProcedureArgument(job != null, "job cannot be null");
            preloads.cancel(session, accessControl, job);
        }
    }
}
