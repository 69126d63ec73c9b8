package io.cachedhive.trino.partition;

import com.google.inject.Provider;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;

import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Map;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * A procedure of the schema {@code system} with the arguments {@code schema_name, table_name, partition_columns, partition_values}: for partitions of a table, or all of it.
 */
public abstract class PartitionProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle CALL;

    static {
        try {
            CALL = lookup().unreflect(PartitionProcedure.class.getMethod(
                    "call",
                    ConnectorSession.class,
                    ConnectorAccessControl.class,
                    String.class,
                    String.class,
                    List.class,
                    List.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final String name;
    private final boolean namedArguments;
    private final ProcedureGuard guard;

    /**
     * @param namedArguments whether it can be called with named arguments only
     */
    protected PartitionProcedure(String name, boolean namedArguments, ProcedureGuard guard)
    {
        this.name = requireNonNull(name, "name is null");
        this.namedArguments = namedArguments;
        this.guard = requireNonNull(guard, "guard is null");
    }

    /**
     * @param values by partition column, of some or all of them; empty if there are none in the call
     */
    protected abstract void run(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values);

    @Override
    public final Procedure get()
    {
        return guard.restrict(new Procedure(
                "system",
                name,
                List.of(
                        new Argument("SCHEMA_NAME", VARCHAR),
                        new Argument("TABLE_NAME", VARCHAR),
                        new Argument("PARTITION_COLUMNS", new ArrayType(VARCHAR), false, null),
                        new Argument("PARTITION_VALUES", new ArrayType(VARCHAR), false, null)),
                CALL.bindTo(this),
                namedArguments));
    }

    /**
     * Called by the engine.
     */
    public final void call(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            String schemaName,
            String tableName,
            List<String> partitionColumns,
            List<String> partitionValues)
    {
        try (ThreadContextClassLoader _ = new ThreadContextClassLoader(getClass().getClassLoader())) {
            checkProcedureArgument(schemaName != null, "schema_name cannot be null");
            checkProcedureArgument(tableName != null, "table_name cannot be null");
            run(session, accessControl, new SchemaTableName(schemaName, tableName), PartitionArguments.parse(partitionColumns, partitionValues, "the whole table"));
        }
    }
}
