package io.cachedhive.trino.preload;

import com.google.common.collect.ImmutableList;
import com.google.inject.Provider;
import io.cachedhive.plugin.preload.PreloadRequest;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.cachedhive.trino.table.TableNames;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;

import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * A procedure that preloads: what all of them have in common. First come the names of schema and table, then the procedure's own arguments, then those that say
 * which columns are loaded, and how.
 */
abstract class PreloadProcedure
        implements Provider<Procedure>
{
    private static final List<Argument> FIRST_ARGUMENTS = List.of(
            new Argument("SCHEMA_NAME", VARCHAR),
            new Argument("TABLE_NAME", VARCHAR));
    private static final List<Argument> LAST_ARGUMENTS = List.of(
            new Argument("COLUMNS", new ArrayType(VARCHAR), false, null),
            new Argument("PIN", BOOLEAN, false, false),
            new Argument("JOB", VARCHAR, false, null),
            new Argument("MAX_BYTES_PER_SECOND", BIGINT, false, null),
            new Argument("WAIT", BOOLEAN, false, true));

    private final Preloads preloads;
    private final ProcedureGuard guard;
    private final String name;

    PreloadProcedure(String name, Preloads preloads, ProcedureGuard guard)
    {
        this.name = requireNonNull(name, "name is null");
        this.preloads = requireNonNull(preloads, "preloads is null");
        this.guard = requireNonNull(guard, "guard is null");
    }

    /**
     * @param method of the own class, public, and the only one of that name; it has the session and the access control before its arguments
     */
    final Procedure procedure(List<Argument> ownArguments, String method)
    {
        List<Argument> arguments = ImmutableList.<Argument>builder()
                .addAll(FIRST_ARGUMENTS)
                .addAll(ownArguments)
                .addAll(LAST_ARGUMENTS)
                .build();
        return guard.audit(new Procedure("system", name, arguments, handle(method).bindTo(this)));
    }

    private MethodHandle handle(String method)
    {
        try {
            return lookup().unreflect(Arrays.stream(getClass().getMethods())
                    .filter(candidate -> candidate.getName().equals(method))
                    .findFirst()
                    .orElseThrow());
        }
        catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * @param partition values by partition column
     * @param allPartitions whether all of a partitioned table is meant
     * @param pin not a primitive: the engine looks for one at the place of another argument, and would refuse that one's null
     */
    final void preload(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            String schemaName,
            String tableName,
            Map<String, String> partition,
            boolean allPartitions,
            List<String> columns,
            Boolean pin,
            String job,
            Long maxBytesPerSecond,
            boolean wait)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            checkProcedureArgument(schemaName != null, "schema_name cannot be null");
            checkProcedureArgument(tableName != null, "table_name cannot be null");
            checkProcedureArgument(pin != null, "pin cannot be null");
            if (pin) {
                guard.checkAdmin(session, name + " with pin");
            }
            preloads.preload(session, accessControl, new PreloadRequest(
                    TableNames.fromTrino(new SchemaTableName(schemaName, tableName)),
                    partition,
                    allPartitions,
                    Optional.empty(),
                    PreloadArguments.columns(columns),
                    pin,
                    PreloadArguments.job(job),
                    Optional.empty(),
                    OptionalLong.empty(),
                    PreloadArguments.maxBytesPerSecond(maxBytesPerSecond),
                    wait));
        }
    }
}
