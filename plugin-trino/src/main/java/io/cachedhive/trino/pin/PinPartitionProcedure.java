package io.cachedhive.trino.pin;

import com.google.inject.Inject;
import io.cachedhive.trino.partition.PartitionProcedure;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.pin_partition(schema_name, table_name, partition_columns, partition_values)}: what is cached of a partition, now and later, does not leave for want of
 * space, as far as there is room for pinned blocks. Some of the partition columns name all partitions with those values that there are; without any, all of the table is meant,
 * with partitions that come later.
 */
public final class PinPartitionProcedure
        extends PartitionProcedure
{
    private final Pins pins;

    @Inject
    PinPartitionProcedure(Pins pins, ProcedureGuard guard)
    {
        super("pin_partition", false, guard);
        this.pins = requireNonNull(pins, "pins is null");
    }

    @Override
    protected void run(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        pins.pin(session, accessControl, table, values);
    }
}
