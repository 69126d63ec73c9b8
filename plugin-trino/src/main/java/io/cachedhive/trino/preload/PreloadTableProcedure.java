package io.cachedhive.trino.preload;

import com.google.inject.Inject;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.procedure.Procedure;

import java.util.List;
import java.util.Map;

/**
 * {@code CALL system.preload_table(schema_name, table_name, columns, pin, job, max_bytes_per_second, wait)}: the same as {@link PreloadPartitionProcedure} for
 * a whole table, with all its partitions if it has any.
 */
public final class PreloadTableProcedure
        extends PreloadProcedure
{
    @Inject
    PreloadTableProcedure(Preloads preloads, ProcedureGuard guard)
    {
        super("preload_table", preloads, guard);
    }

    @Override
    public Procedure get()
    {
        return procedure(List.of(), "preloadTable");
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
        preload(session, accessControl, schemaName, tableName, Map.of(), true, columns, pin, job, maxBytesPerSecond, wait);
    }
}
