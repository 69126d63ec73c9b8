package io.cachedhive.trino.flush;

import com.google.inject.Inject;
import io.cachedhive.plugin.origin.Tombstones;
import io.cachedhive.protocol.file.Tombstone;
import io.cachedhive.trino.partition.PartitionProcedure;
import io.cachedhive.trino.partition.TableFiles;
import io.cachedhive.trino.partition.TableFiles.PartitionLocation;
import io.cachedhive.trino.procedure.ProcedureGuard;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * {@code CALL system.flush_data_cache(schema_name, table_name, partition_columns, partition_values)}: drops the cached blocks of a table, or of some of its partitions, on all
 * cache workers, durably. After the call returns, no cache worker serves them again. An unreachable cache worker applies the flush before it serves blocks again: it learns of it
 * from its peers and from this coordinator. The table's files do not change, and later reads cache them again.
 */
public final class FlushDataCacheProcedure
        extends PartitionProcedure
{
    private final TableFiles files;
    private final Tombstones tombstones;
    private final Flusher flusher;

    @Inject
    FlushDataCacheProcedure(TableFiles files, Tombstones tombstones, Flusher flusher, ProcedureGuard guard)
    {
        // named arguments only, as flush_metadata_cache
        super("flush_data_cache", true, guard);
        this.files = requireNonNull(files, "files is null");
        this.tombstones = requireNonNull(tombstones, "tombstones is null");
        this.flusher = requireNonNull(flusher, "flusher is null");
    }

    @Override
    protected void run(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> values)
    {
        List<Tombstone> flushed = tombstones.of(files.locations(session, accessControl, table, values).stream().map(PartitionLocation::location).toList());
        if (!flushed.isEmpty()) {
            flusher.flush(table.toString(), flushed);
        }
    }
}
