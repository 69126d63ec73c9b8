package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.filesystem.FileOrigins;
import io.cachedhive.plugin.filesystem.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.trino.filesystem.Location;
import io.trino.plugin.hive.HiveColumnHandle;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.HiveTableHandle;
import io.trino.plugin.hive.HiveTransactionHandle;
import io.trino.plugin.hive.HiveTransactionManager;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorSplitManager;
import io.trino.spi.connector.ConnectorSplitSource;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.ConstraintApplicationResult;
import io.trino.spi.connector.DynamicFilterSnapshot;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.predicate.NullableValue;
import io.trino.spi.predicate.TupleDomain;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;

import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.plugin.hive.util.HiveUtil.parsePartitionValue;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static java.util.Objects.requireNonNull;

/**
 * Lists the files of a table or of some of its partitions, as a scan of all of them would.
 */
final class PreloadPlan
{
    private static final int BATCH_SIZE = 1000;

    private final HiveTransactionManager transactionManager;
    private final ConnectorSplitManager splitManager;
    private final FileOrigins origins;
    private final long chunkSizeBytes;
    private final long maxPieceBytes;

    PreloadPlan(HiveTransactionManager transactionManager, ConnectorSplitManager splitManager, FileOrigins origins, long chunkSizeBytes, long maxPieceBytes)
    {
        this.transactionManager = requireNonNull(transactionManager, "transactionManager is null");
        this.splitManager = requireNonNull(splitManager, "splitManager is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.chunkSizeBytes = chunkSizeBytes;
        this.maxPieceBytes = maxPieceBytes;
    }

    /**
     * @param partitionValues by the name of the partition column, as strings of a partition's name; empty for an unpartitioned table
     */
    List<PreloadPiece> plan(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName table, Map<String, String> partitionValues)
    {
        HiveTransactionHandle transaction = new HiveTransactionHandle(true);
        transactionManager.begin(transaction);
        boolean planned = false;
        try {
            ConnectorMetadata metadata = transactionManager.get(transaction, session.getIdentity());
            metadata.beginQuery(session);
            try {
                ConnectorTableHandle handle = findTable(session, accessControl, metadata, table, partitionValues);
                List<PreloadPiece> pieces = cut(listSplits(transaction, session, handle));
                planned = true;
                return pieces;
            }
            finally {
                metadata.cleanupQuery(session);
            }
        }
        finally {
            if (planned) {
                transactionManager.commit(transaction);
            }
            else {
                transactionManager.rollback(transaction);
            }
        }
    }

    private static ConnectorTableHandle findTable(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            ConnectorMetadata metadata,
            SchemaTableName table,
            Map<String, String> partitionValues)
    {
        if (metadata.isView(session, table)) {
            throw new TrinoException(NOT_SUPPORTED, "%s is a view: preload the tables that it reads".formatted(table));
        }
        ConnectorTableHandle handle = metadata.getTableHandle(session, table, Optional.empty(), Optional.empty());
        if (handle == null) {
            throw new TableNotFoundException(table);
        }
        Map<String, ColumnHandle> columns = metadata.getColumnHandles(session, handle);
        accessControl.checkCanSelectFromColumns(null, table, Optional.empty(), columns.keySet());

        List<HiveColumnHandle> partitionColumns = ((HiveTableHandle) handle).getPartitionColumns();
        if (partitionColumns.isEmpty()) {
            checkProcedureArgument(partitionValues.isEmpty(), "table %s is not partitioned: leave out partition_columns and partition_values", table);
            return handle;
        }
        List<String> names = partitionColumns.stream().map(HiveColumnHandle::getName).toList();
        checkProcedureArgument(!partitionValues.isEmpty(), "table %s is partitioned by %s: partition_columns and partition_values are required", table, names);
        return applyFilter(session, metadata, handle, table, partitionColumns, partitionValues);
    }

    private static ConnectorTableHandle applyFilter(
            ConnectorSession session,
            ConnectorMetadata metadata,
            ConnectorTableHandle handle,
            SchemaTableName table,
            List<HiveColumnHandle> partitionColumns,
            Map<String, String> partitionValues)
    {
        Map<ColumnHandle, NullableValue> values = new LinkedHashMap<>();
        partitionValues.forEach((name, value) -> {
            HiveColumnHandle column = partitionColumns.stream()
                    .filter(candidate -> candidate.getName().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new TrinoException(INVALID_PROCEDURE_ARGUMENT, "table %s has no partition column %s, but %s".formatted(
                            table,
                            name,
                            partitionColumns.stream().map(HiveColumnHandle::getName).toList())));
            try {
                values.put(column, parsePartitionValue(name + "=" + value, value, column.getType()));
            }
            catch (TrinoException e) {
                throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "value of partition column %s is not a %s: %s".formatted(name, column.getType(), value), e);
            }
        });
        ConnectorTableHandle filtered = metadata.applyFilter(session, handle, new Constraint(TupleDomain.fromFixedValues(values)))
                .map(ConstraintApplicationResult::getHandle)
                .orElse(handle);
        if (((HiveTableHandle) filtered).getPartitions().filter(List::isEmpty).isPresent()) {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "table %s has no partition with %s".formatted(table, partitionValues));
        }
        return filtered;
    }

    private List<HiveSplit> listSplits(HiveTransactionHandle transaction, ConnectorSession session, ConnectorTableHandle handle)
    {
        List<HiveSplit> splits = new ArrayList<>();
        try (ConnectorSplitSource source = splitManager.getSplits(transaction, session, handle, Set.of(), Constraint.alwaysTrue())) {
            while (!source.isFinished()) {
                for (ConnectorSplit split : source.getNextBatch(BATCH_SIZE, DynamicFilterSnapshot.EMPTY).get()) {
                    splits.add((HiveSplit) split);
                }
            }
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "interrupted while listing files", e);
        }
        catch (ExecutionException e) {
            if (e.getCause() instanceof TrinoException trinoException) {
                throw trinoException;
            }
            throw new TrinoException(GENERIC_INTERNAL_ERROR, "could not list files: " + e.getCause().getMessage(), e.getCause());
        }
        return splits;
    }

    private List<PreloadPiece> cut(List<HiveSplit> splits)
    {
        Map<FileVersion, List<HiveSplit>> splitsByFile = new LinkedHashMap<>();
        Map<FileVersion, FileOrigin> originByFile = new LinkedHashMap<>();
        for (HiveSplit split : splits) {
            Location location = Location.of(split.getPath());
            FileOrigin origin = origins.find(location)
                    .orElseThrow(() -> new TrinoException(NOT_SUPPORTED, "files of this kind are not cached: " + location));
            FileVersion file = new FileVersion(origin.id(), location.toString(), split.getEstimatedFileSize(), split.getFileModifiedTime());
            splitsByFile.computeIfAbsent(file, _ -> new ArrayList<>()).add(split);
            originByFile.put(file, origin);
        }
        List<PreloadPiece> pieces = new ArrayList<>();
        splitsByFile.forEach((file, fileSplits) ->
                pieces.addAll(PreloadPiece.cut(originByFile.get(file), file, fileSplits, chunkSizeBytes, maxPieceBytes)));
        return pieces;
    }
}
