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
 * {@code CALL system.pin_partition(schema_name, table_name, partition_columns, partition_values)}: what is cached of a partition, now and later, does not leave for want of
 * space, as far as there is room for pinned blocks. Some of the partition columns name all partitions with those values that there are; without any, all of the table is meant,
 * with partitions that come later.
 */
public final class PinPartitionProcedure
        implements Provider<Procedure>
{
    private static final MethodHandle PIN_PARTITION;

    static {
        try {
            PIN_PARTITION = lookup().unreflect(PinPartitionProcedure.class.getMethod(
                    "pinPartition",
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
    PinPartitionProcedure(Pins pins)
    {
        this.pins = requireNonNull(pins, "pins is null");
    }

    @Override
    public Procedure get()
    {
        return new Procedure(
                "system",
                "pin_partition",
                List.of(
                        new Argument("SCHEMA_NAME", VARCHAR),
                        new Argument("TABLE_NAME", VARCHAR),
                        new Argument("PARTITION_COLUMNS", new ArrayType(VARCHAR), false, null),
                        new Argument("PARTITION_VALUES", new ArrayType(VARCHAR), false, null)),
                PIN_PARTITION.bindTo(this));
    }

    /**
     * Called by the engine.
     */
    public void pinPartition(
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
            pins.pin(session, accessControl, new SchemaTableName(schemaName, tableName), TablePartitions.arguments(partitionColumns, partitionValues));
        }
    }
}
