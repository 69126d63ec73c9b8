package io.cachedhive.trino.preload;

import com.google.inject.Inject;
import io.cachedhive.trino.partition.PartitionArguments;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;
import io.trino.spi.procedure.Procedure.Argument;
import io.trino.spi.type.ArrayType;

import java.util.List;
import java.util.Map;

import static io.trino.spi.type.VarcharType.VARCHAR;

/**
 * {@code CALL system.preload_partition(schema_name, table_name, partition_columns, partition_values, columns, pin, job, max_bytes_per_second, wait)}: loads
 * a partition into the cache, each chunk into its owner. Some of the partition columns name all partitions with those values. With {@code columns} it loads
 * what readers touch for those; with {@code pin => true} the partition is pinned before; with {@code wait => false} it ends when the job has begun.
 */
public final class PreloadPartitionProcedure
        extends PreloadProcedure
{
    private static final List<Argument> PARTITION_ARGUMENTS = List.of(
            new Argument("PARTITION_COLUMNS", new ArrayType(VARCHAR), false, null),
            new Argument("PARTITION_VALUES", new ArrayType(VARCHAR), false, null));

    @Inject
    PreloadPartitionProcedure(Preloads preloads, ProcedureGuard guard)
    {
        super("preload_partition", preloads, guard);
    }

    @Override
    public Procedure get()
    {
        return procedure(PARTITION_ARGUMENTS, "preloadPartition");
    }

    /**
     * Called by the engine.
     */
    public void preloadPartition(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            String schemaName,
            String tableName,
            List<String> partitionColumns,
            List<String> partitionValues,
            List<String> columns,
            Boolean pin,
            String job,
            Long maxBytesPerSecond,
            boolean wait)
    {
        Map<String, String> partition = PartitionArguments.parse(partitionColumns, partitionValues, "an unpartitioned table");
        preload(session, accessControl, schemaName, tableName, partition, false, columns, pin, job, maxBytesPerSecond, wait);
    }
}
