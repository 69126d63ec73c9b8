package io.cachedhive.plugin.preload;

import com.google.inject.Inject;
import com.google.inject.Provider;
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
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.BooleanType.BOOLEAN;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.preload_table(schema_name, table_name, columns, pin, job, max_bytes_per_second, wait)}: the same as {@link PreloadPartitionProcedure} for
 * a whole table, with all its partitions if it has any.
 */
public final class PreloadTableProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle PRELOAD_TABLE;

    static {
        try {
            PRELOAD_TABLE = lookup().unreflect(PreloadTableProcedure.class.getMethod(
                    "preloadTable",
                    ConnectorSession.class,
                    ConnectorAccessControl.class,
                    String.class,
                    String.class,
                    List.class,
                    // the engine looks for a primitive type at the place of another argument, and would refuse that one's null
                    Boolean.class,
                    String.class,
                    Long.class,
                    boolean.class));
        }
        catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private final Preloads preloads;

    @Inject
    PreloadTableProcedure(Preloads preloads)
    {
        this.preloads = requireNonNull(preloads, "preloads is null");
    }

    @Override
    public Procedure get()
    {
        return new Procedure(
                "system",
                "preload_table",
                List.of(
                        new Argument("SCHEMA_NAME", VARCHAR),
                        new Argument("TABLE_NAME", VARCHAR),
                        new Argument("COLUMNS", new ArrayType(VARCHAR), false, null),
                        new Argument("PIN", BOOLEAN, false, false),
                        new Argument("JOB", VARCHAR, false, null),
                        new Argument("MAX_BYTES_PER_SECOND", BIGINT, false, null),
                        new Argument("WAIT", BOOLEAN, false, true)),
                PRELOAD_TABLE.bindTo(this));
    }

    /**
     * Called by the engine.
     */
    public void preloadTable(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            String schemaName,
            String tableName,
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
            preloads.preload(session, accessControl, new PreloadRequest(
                    new SchemaTableName(schemaName, tableName),
                    Map.of(),
                    true,
                    PreloadArguments.columns(columns),
                    pin,
                    PreloadArguments.job(job),
                    PreloadArguments.maxBytesPerSecond(maxBytesPerSecond),
                    wait));
        }
    }
}
