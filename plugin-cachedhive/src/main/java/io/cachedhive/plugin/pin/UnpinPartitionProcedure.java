package io.cachedhive.plugin.pin;

import com.google.inject.Inject;
import com.google.inject.Provider;
import io.cachedhive.plugin.partition.TablePartitions;
import io.trino.spi.classloader.ThreadContextClassLoader;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;

import java.lang.invoke.MethodHandle;
import java.util.List;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.lang.invoke.MethodHandles.lookup;
import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.unpin_partition(schema_name, table_name, partition_columns, partition_values)}: takes back what {@link PinPartitionProcedure} was called for, also if the
 * partition or the table is not there any more. Without partition columns all that is pinned of the table is meant.
 */
public final class UnpinPartitionProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle UNPIN_PARTITION;

    static {
        try {
            UNPIN_PARTITION = lookup().unreflect(UnpinPartitionProcedure.class.getMethod(
                    "unpinPartition",
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

    private final Pins pins;

    @Inject
    UnpinPartitionProcedure(Pins pins)
    {
        this.pins = requireNonNull(pins, "pins is null");
    }

    @Override
    public Procedure get()
    {
        return new Procedure(
                "system",
                "unpin_partition",
                List.of(
                        new Argument("SCHEMA_NAME", VARCHAR),
                        new Argument("TABLE_NAME", VARCHAR),
                        new Argument("PARTITION_COLUMNS", new ArrayType(VARCHAR), false, null),
                        new Argument("PARTITION_VALUES", new ArrayType(VARCHAR), false, null)),
                UNPIN_PARTITION.bindTo(this));
    }

    /**
     * Called by the engine.
     */
    public void unpinPartition(
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
            pins.unpin(session, accessControl, new SchemaTableName(schemaName, tableName), TablePartitions.arguments(partitionColumns, partitionValues));
        }
    }
}
