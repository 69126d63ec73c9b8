package io.cachedhive.iceberg.connector;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.plugin.table.ScanFile;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.trino.adapter.ConnectorAdapter;
import io.trino.plugin.iceberg.IcebergPartitionFunction;
import io.trino.plugin.iceberg.IcebergPartitioningHandle;
import io.trino.plugin.iceberg.IcebergSplit;
import io.trino.plugin.iceberg.IcebergTableHandle;
import io.trino.spi.connector.ConnectorPartitioningHandle;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.type.TypeManager;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

import static io.trino.plugin.iceberg.IcebergTableName.isIcebergTableName;
import static io.trino.plugin.iceberg.IcebergTableName.isMaterializedViewStorage;
import static io.trino.plugin.iceberg.IcebergTableName.tableNameFrom;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Handles and splits of the Iceberg connector. Splits of metadata tables and of table functions are the connector's own.
 */
public final class IcebergAdapter
        implements ConnectorAdapter
{
    private static final Logger log = Logger.get(IcebergAdapter.class);

    private final TypeManager typeManager;

    @Inject
    public IcebergAdapter(TypeManager typeManager)
    {
        this.typeManager = requireNonNull(typeManager, "typeManager is null");
    }

    @Override
    public Optional<SchemaTableName> findTable(ConnectorTableHandle table)
    {
        return table instanceof IcebergTableHandle handle ? Optional.of(tableName(handle)) : Optional.empty();
    }

    /**
     * Returns the name that users select from. The storage table of a materialized view has the name of the view with a suffix.
     */
    private static SchemaTableName tableName(IcebergTableHandle handle)
    {
        SchemaTableName name = handle.getSchemaTableName();
        if (isIcebergTableName(name.getTableName()) && isMaterializedViewStorage(name.getTableName())) {
            return new SchemaTableName(name.getSchemaName(), tableNameFrom(name.getTableName()));
        }
        return name;
    }

    /**
     * OPTIMIZE replaces the files that it reads. ANALYZE reads a table once.
     */
    @Override
    public boolean fillsCache(ConnectorTableHandle table)
    {
        IcebergTableHandle handle = (IcebergTableHandle) table;
        return !handle.isRecordScannedFiles() && !handle.getForAnalyze().orElse(false);
    }

    @Override
    public Optional<ScanFile> findFile(ConnectorSplit split)
    {
        if (!(split instanceof IcebergSplit icebergSplit)) {
            return Optional.empty();
        }
        return Optional.of(new ScanFile(
                icebergSplit.path(),
                icebergSplit.start(),
                icebergSplit.length(),
                icebergSplit.fileSize(),
                FileVersion.IMMUTABLE,
                Map.of()));
    }

    @Override
    public Function<ConnectorSplit, Map<String, String>> partitionValues(ConnectorTableHandle table)
    {
        PartitionValues values = new PartitionValues((IcebergTableHandle) table, typeManager);
        return split -> {
            try {
                return values.of((IcebergSplit) split);
            }
            catch (RuntimeException e) {
                // the query does not need them: rules that ask for a partition do not match
                log.warn(e, "Partition values of a split of table %s are unknown to the rules", ((IcebergTableHandle) table).getSchemaTableName());
                return Map.of();
            }
        };
    }

    @Override
    public OptionalLong bucketHint(ConnectorPartitioningHandle partitioning)
    {
        return partitioning instanceof IcebergPartitioningHandle handle ? OptionalLong.of(hint(handle)) : OptionalLong.empty();
    }

    /**
     * Hashes the same fields as the connector's own hint.
     */
    private static long hint(IcebergPartitioningHandle handle)
    {
        StringBuilder text = new StringBuilder("cachediceberg-buckets-1\n");
        text.append(handle.update()).append('\n');
        for (IcebergPartitionFunction function : handle.partitionFunctions()) {
            text.append(function.transform()).append(' ')
                    .append(function.dataPath()).append(' ')
                    .append(function.type().getTypeId().getId()).append(' ')
                    .append(function.size()).append('\n');
        }
        return Digest128.sha256(ByteBuffer.wrap(text.toString().getBytes(UTF_8))).high();
    }
}
