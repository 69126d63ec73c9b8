package io.cachedhive.trino.procedure;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.plugin.audit.AuditLine;
import io.cachedhive.plugin.audit.AuditLine.Outcome;
import io.cachedhive.plugin.config.AdminUsers;
import io.cachedhive.plugin.config.CachedHiveConfig;
import io.cachedhive.plugin.event.CacheEvents;
import io.trino.spi.catalog.CatalogName;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.security.AccessDeniedException;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

import static com.google.common.base.Preconditions.checkArgument;
import static java.lang.invoke.MethodHandles.insertArguments;
import static java.lang.invoke.MethodHandles.lookup;
import static java.lang.invoke.MethodType.methodType;
import static java.util.Objects.requireNonNull;

/**
 * Writes each call of a procedure to the audit log, with the user, the query, the arguments and the outcome, and refuses users that {@code cachedhive.admin-users} does
 * not name. The line is written when the call ends.
 *
 * <p>The audit log is the logger {@code io.cachedhive.audit}.
 */
public final class ProcedureGuard
{
    private static final Logger log = Logger.get("io.cachedhive.audit");

    private static final MethodHandle CALL;

    static {
        try {
            CALL = lookup().findVirtual(ProcedureGuard.class, "call", methodType(void.class, Procedure.class, boolean.class, Object[].class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String catalog;
    private final Optional<AdminUsers> adminUsers;
    private final CacheEvents events;

    @Inject
    public ProcedureGuard(CatalogName catalog, CachedHiveConfig config, CacheEvents events)
    {
        this.catalog = requireNonNull(catalog, "catalog is null").toString();
        this.adminUsers = config.getAdminUsers();
        this.events = requireNonNull(events, "events is null");
    }

    /**
     * Returns the procedure with an audit log.
     *
     * @param procedure has the session among its parameters
     */
    public Procedure audit(Procedure procedure)
    {
        return guard(procedure, false);
    }

    /**
     * Returns the procedure with an audit log, for administrators of the cache only.
     *
     * @param procedure has the session among its parameters
     */
    public Procedure restrict(Procedure procedure)
    {
        return guard(procedure, true);
    }

    private Procedure guard(Procedure procedure, boolean restricted)
    {
        MethodType type = procedure.getMethodHandle().type();
        checkArgument(type.parameterList().contains(ConnectorSession.class), "procedure %s has no session", procedure.getName());
        return new Procedure(
                procedure.getSchema(),
                procedure.getName(),
                procedure.getArguments(),
                insertArguments(CALL, 0, this, procedure, restricted).asCollector(Object[].class, type.parameterCount()).asType(type),
                procedure.requiresNamedArguments());
    }

    // by CALL
    void call(Procedure procedure, boolean restricted, Object[] parameters)
            throws Throwable
    {
        ConnectorSession session = null;
        Map<String, Object> arguments = new LinkedHashMap<>();
        Iterator<Procedure.Argument> declared = procedure.getArguments().iterator();
        MethodType type = procedure.getMethodHandle().type();
        for (int i = 0; i < parameters.length; i++) {
            if (type.parameterType(i) == ConnectorSession.class) {
                session = (ConnectorSession) parameters[i];
            }
            else if (type.parameterType(i) != ConnectorAccessControl.class) {
                String name = declared.next().getName().toLowerCase(Locale.ENGLISH);
                if (parameters[i] != null) {
                    arguments.put(name, parameters[i]);
                }
            }
        }
        requireNonNull(session, "session is null");
        try {
            if (restricted) {
                checkAdmin(session, procedure.getName());
            }
            procedure.getMethodHandle().invokeWithArguments(parameters);
        }
        catch (Throwable e) {
            log(session, procedure, arguments, e instanceof AccessDeniedException ? Outcome.DENIED : Outcome.FAILED, Optional.of(String.valueOf(e.getMessage())));
            throw e;
        }
        log(session, procedure, arguments, Outcome.SUCCEEDED, Optional.empty());
    }

    private void log(ConnectorSession session, Procedure procedure, Map<String, Object> arguments, Outcome outcome, Optional<String> reason)
    {
        AuditLine call = new AuditLine(session.getUser(), session.getQueryId(), name(procedure.getName()), arguments, outcome, reason);
        log.info("%s", call);
        events.add(procedure.getName(), call);
    }

    /**
     * Checks that the user may do what changes the cache for other users.
     *
     * @param call what was called: the name of a procedure of the schema {@code system}
     * @throws AccessDeniedException if {@code cachedhive.admin-users} is set and does not name the user
     */
    public void checkAdmin(ConnectorSession session, String call)
    {
        if (adminUsers.isPresent() && !isNamedAdmin(session)) {
            throw new AccessDeniedException("User %s cannot call %s: add the user or a group of the user to cachedhive.admin-users of catalog %s".formatted(
                    session.getUser(),
                    name(call),
                    catalog));
        }
    }

    /**
     * Returns whether {@code cachedhive.admin-users} names the user.
     */
    public boolean isNamedAdmin(ConnectorSession session)
    {
        return adminUsers.isPresent() && adminUsers.get().contains(session.getUser(), session.getIdentity().getGroups());
    }

    private String name(String procedure)
    {
        return "%s.system.%s".formatted(catalog, procedure);
    }
}
