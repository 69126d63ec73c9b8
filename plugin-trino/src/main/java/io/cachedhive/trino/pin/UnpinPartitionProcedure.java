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
 * {@code CALL system.unpin_partition(schema_name, table_name, partition_columns, partition_values)}: takes back what {@link PinPartitionProcedure} was called for, also if the
 * partition or the table is not there any more. Without partition columns all that is pinned of the table is meant.
 */
public final class UnpinPartitionProcedure
        extends PartitionProcedure
{
    private final Pins pins;

    @Inject
    UnpinPartitionProcedure(Pins pins, ProcedureGuard guard)
    {
        super("unpin_partition", false, guard);
        this.pins = requireNonNull(pins, "pins is null");
    }

    @Override
    protected void run(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        pins.unpin(session, accessControl, table, values);
    }
}
