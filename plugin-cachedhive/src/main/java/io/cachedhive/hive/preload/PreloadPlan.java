package io.cachedhive.hive.preload;

import com.google.inject.Inject;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.plugin.preload.ByteRange;
import io.cachedhive.plugin.preload.FileFormat;
import io.cachedhive.plugin.preload.PreloadFile;
import io.cachedhive.plugin.preload.PreloadJobs;
import io.cachedhive.plugin.preload.PreloadListing;
import io.cachedhive.plugin.preload.PreloadRequest;
import io.cachedhive.plugin.preload.PreloadRequest.AgeLimit;
import io.cachedhive.plugin.preload.WantedColumns;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.trino.table.TableNames;
import io.trino.metastore.HivePartition;
import io.trino.parquet.ParquetReaderOptions;
import io.trino.parquet.crypto.FileDecryptionProperties;
import io.trino.plugin.hive.HiveColumnHandle;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.HiveTableHandle;
import io.trino.plugin.hive.HiveTransactionHandle;
import io.trino.plugin.hive.HiveTransactionManager;
import io.trino.plugin.hive.orc.OrcReaderConfig;
import io.trino.plugin.hive.parquet.ParquetPageSourceFactory;
import io.trino.plugin.hive.parquet.ParquetReaderConfig;
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
import io.trino.spi.connector.SchemaNotFoundException;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.TableNotFoundException;
import io.trino.spi.predicate.NullableValue;
import io.trino.spi.predicate.TupleDomain;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;

import static com.google.common.collect.ImmutableSet.toImmutableSet;
import static io.trino.hive.formats.HiveClassNames.ORC_SERDE_CLASS;
import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.plugin.hive.HiveColumnHandle.ColumnType.REGULAR;
import static io.trino.plugin.hive.HiveSessionProperties.getOrcMaxMergeDistance;
import static io.trino.plugin.hive.HiveSessionProperties.getOrcTinyStripeThreshold;
import static io.trino.plugin.hive.HiveSessionProperties.getParquetSmallFileThreshold;
import static io.trino.plugin.hive.HiveSessionProperties.isParquetUseColumnIndex;
import static io.trino.plugin.hive.HiveSessionProperties.isUseOrcColumnNames;
import static io.trino.plugin.hive.HiveSessionProperties.isUseParquetColumnNames;
import static io.trino.plugin.hive.HiveSessionProperties.useParquetBloomFilter;
import static io.trino.plugin.hive.util.HiveUtil.parsePartitionValue;
import static io.trino.spi.StandardErrorCode.GENERIC_INTERNAL_ERROR;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;

/**
 * Lists the files of a table or of some of its partitions, as a scan of all of them would.
 */
public final class PreloadPlan
{
    private static final int BATCH_SIZE = 1000;

    private final HiveTransactionManager transactionManager;
    private final ConnectorSplitManager splitManager;
    private final FileOrigins origins;
    private final ParquetReaderConfig parquetConfig;
    private final Optional<FileDecryptionProperties> parquetDecryption;
    private final OrcReaderConfig orcConfig;

    @Inject
    PreloadPlan(
            HiveTransactionManager transactionManager,
            ConnectorSplitManager splitManager,
            FileOrigins origins,
            ParquetReaderConfig parquetConfig,
            Optional<FileDecryptionProperties> parquetDecryption,
            OrcReaderConfig orcConfig)
    {
        this.transactionManager = requireNonNull(transactionManager, "transactionManager is null");
        this.splitManager = requireNonNull(splitManager, "splitManager is null");
        this.origins = requireNonNull(origins, "origins is null");
        this.parquetConfig = requireNonNull(parquetConfig, "parquetConfig is null");
        this.parquetDecryption = requireNonNull(parquetDecryption, "parquetDecryption is null");
        this.orcConfig = requireNonNull(orcConfig, "orcConfig is null");
    }

    /**
     * @throws TrinoException if there is no such table, partition or column, or the user may not select from it
     */
    public PreloadListing list(ConnectorSession session, ConnectorAccessControl accessControl, PreloadRequest request)
    {
        HiveTransactionHandle transaction = new HiveTransactionHandle(true);
        transactionManager.begin(transaction);
        boolean listed = false;
        try {
            ConnectorMetadata metadata = transactionManager.get(transaction, session.getIdentity());
            metadata.beginQuery(session);
            try {
                PreloadListing listing = list(session, accessControl, request, transaction, metadata);
                listed = true;
                return listing;
            }
            finally {
                metadata.cleanupQuery(session);
            }
        }
        finally {
            if (listed) {
                transactionManager.commit(transaction);
            }
            else {
                transactionManager.rollback(transaction);
            }
        }
    }

    private PreloadListing list(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            PreloadRequest request,
            HiveTransactionHandle transaction,
            ConnectorMetadata metadata)
    {
        SchemaTableName table = TableNames.toTrino(request.table());
        // whoever may not select from it does not learn either whether it exists
        accessControl.checkCanSelectFromColumns(null, table, Optional.empty(), request.columns().<Set<String>>map(Set::copyOf).orElseGet(Set::of));
        if (metadata.isView(session, table)) {
            throw new TrinoException(NOT_SUPPORTED, "%s is a view: preload the tables that it reads".formatted(table));
        }
        ConnectorTableHandle handle = metadata.getTableHandle(session, table, Optional.empty(), Optional.empty());
        if (handle == null) {
            if (!metadata.schemaExists(session, table.getSchemaName())) {
                throw new SchemaNotFoundException(table.getSchemaName());
            }
            throw new TableNotFoundException(table);
        }
        Map<String, ColumnHandle> columns = metadata.getColumnHandles(session, handle);
        if (request.columns().isEmpty()) {
            accessControl.checkCanSelectFromColumns(null, table, Optional.empty(), columns.keySet());
        }
        Optional<WantedColumns> readers = request.columns().map(names -> readers(session, table, columns, names));
        return new PreloadListing(listFiles(transaction, session, findPartitions(session, metadata, handle, request), request.partitionAge()), readers);
    }

    private ColumnReaders readers(ConnectorSession session, SchemaTableName table, Map<String, ColumnHandle> columns, List<String> names)
    {
        List<HiveColumnHandle> wanted = new ArrayList<>();
        for (String name : names) {
            HiveColumnHandle column = (HiveColumnHandle) columns.get(name);
            if (column == null) {
                throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "table %s has no column %s, but %s".formatted(table, name, columns.values().stream()
                        .map(HiveColumnHandle.class::cast)
                        .filter(known -> !known.isHidden())
                        .map(HiveColumnHandle::getName)
                        .toList()));
            }
            // the others are in names of directories, or made up
            if (column.getColumnType() == REGULAR) {
                wanted.add(column);
            }
        }
        return new ColumnReaders(
                wanted,
                ParquetReaderOptions.builder(parquetConfig.toParquetReaderOptions())
                        .withSmallFileThreshold(getParquetSmallFileThreshold(session))
                        .withUseColumnIndex(isParquetUseColumnIndex(session))
                        .withBloomFilter(useParquetBloomFilter(session))
                        .build(),
                parquetDecryption,
                isUseParquetColumnNames(session),
                orcConfig.toOrcReaderOptions()
                        .withMaxMergeDistance(getOrcMaxMergeDistance(session))
                        .withTinyStripeThreshold(getOrcTinyStripeThreshold(session)),
                isUseOrcColumnNames(session));
    }

    private static ConnectorTableHandle findPartitions(ConnectorSession session, ConnectorMetadata metadata, ConnectorTableHandle handle, PreloadRequest request)
    {
        List<HiveColumnHandle> partitionColumns = ((HiveTableHandle) handle).getPartitionColumns();
        if (request.partitionAge().isPresent()) {
            return findPartitions(session, metadata, handle, request.partitionAge().get());
        }
        if (request.allPartitions()) {
            return handle;
        }
        if (partitionColumns.isEmpty()) {
            checkProcedureArgument(request.partition().isEmpty(), "table %s is not partitioned: leave out partition_columns and partition_values", request.table());
            return handle;
        }
        List<String> names = partitionColumns.stream().map(HiveColumnHandle::getName).toList();
        checkProcedureArgument(
                !request.partition().isEmpty(),
                "table %s is partitioned by %s: partition_columns and partition_values are required; preload_table loads all partitions",
                request.table(),
                names);
        return applyFilter(session, metadata, handle, TableNames.toTrino(request.table()), partitionColumns, request.partition());
    }

    private static ConnectorTableHandle findPartitions(ConnectorSession session, ConnectorMetadata metadata, ConnectorTableHandle handle, AgeLimit limit)
    {
        HiveTableHandle table = (HiveTableHandle) handle;
        Set<String> partitionColumns = table.getPartitionColumns().stream().map(HiveColumnHandle::getName).collect(toImmutableSet());
        checkProcedureArgument(
                partitionColumns.containsAll(limit.age().columns()),
                "table %s has the partition columns %s, and not %s: correct \"partitionAge\" of the schedule",
                table.getSchemaTableName(),
                partitionColumns,
                limit.age().columns());
        HiveTableHandle all = (HiveTableHandle) metadata.applyFilter(session, handle, Constraint.alwaysTrue())
                .map(ConstraintApplicationResult::getHandle)
                .orElse(handle);
        Optional<List<String>> names = all.getPartitionNames().map(known -> known.stream()
                .filter(name -> limit.matches(PartitionNames.values(name)))
                .toList());
        Optional<List<HivePartition>> partitions = all.getPartitions().map(known -> known.stream()
                .filter(partition -> limit.matches(PartitionNames.values(partition.getPartitionId())))
                .toList());
        if (names.map(List::size).or(() -> partitions.map(List::size)).orElse(0) == 0) {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "table %s has no partition with an %s".formatted(table.getSchemaTableName(), limit));
        }
        return new HiveTableHandle(
                all.getSchemaName(),
                all.getTableName(),
                all.getTableParameters(),
                all.getPartitionColumns(),
                all.getDataColumns(),
                names,
                partitions,
                all.getCompactEffectivePredicate(),
                all.getEnforcedConstraint(),
                all.getTablePartitioning(),
                all.getBucketFilter(),
                all.getAnalyzePartitionValues(),
                all.getConstraintColumns(),
                all.getProjectedColumns(),
                all.getTransaction(),
                all.isRecordScannedFiles(),
                all.getMaxScannedFileSize());
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

    /**
     * @param limit with an age, files of newer partitions come first
     */
    private List<PreloadFile> listFiles(HiveTransactionHandle transaction, ConnectorSession session, ConnectorTableHandle handle, Optional<AgeLimit> limit)
    {
        Map<FileVersion, Listed> files = new LinkedHashMap<>();
        try (ConnectorSplitSource source = splitManager.getSplits(transaction, session, handle, Set.of(), Constraint.alwaysTrue())) {
            while (!source.isFinished()) {
                for (ConnectorSplit split : source.getNextBatch(BATCH_SIZE, DynamicFilterSnapshot.EMPTY).get()) {
                    add(files, (HiveSplit) split, limit);
                }
                if (files.size() > PreloadJobs.MAX_UNFINISHED_FILES) {
                    throw new TrinoException(NOT_SUPPORTED, "%s has more than %s files to preload: preload fewer partitions at once".formatted(
                            ((HiveTableHandle) handle).getSchemaTableName(),
                            PreloadJobs.MAX_UNFINISHED_FILES));
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
        return files.entrySet().stream()
                .sorted(comparing((Map.Entry<FileVersion, Listed> file) -> file.getValue().partitionEnd()).reversed())
                .map(file -> file.getValue().toFile(file.getKey()))
                .toList();
    }

    private void add(Map<FileVersion, Listed> files, HiveSplit split, Optional<AgeLimit> limit)
    {
        FileOrigin origin = origins.find(split.getPath())
                .orElseThrow(() -> new TrinoException(NOT_SUPPORTED, "files of this kind are not cached: " + split.getPath()));
        FileVersion version = new FileVersion(origin.id(), split.getPath(), split.getEstimatedFileSize(), split.getFileModifiedTime());
        Listed file = files.computeIfAbsent(version, _ -> new Listed(
                origin,
                format(split.getSchema().serializationLibraryName()),
                split.getSchema().isFullAcidTable(),
                limit.map(age -> age.end(PartitionNames.values(split.getPartitionName()))).orElse(Instant.MIN),
                new ArrayList<>(1)));
        // a listing may know the file longer than the split thinks, never shorter
        long end = Math.min(split.getStart() + split.getLength(), version.length());
        file.splits().add(new ByteRange(Math.min(split.getStart(), end), end));
    }

    private record Listed(FileOrigin origin, FileFormat format, boolean acid, Instant partitionEnd, List<ByteRange> splits)
    {
        PreloadFile toFile(FileVersion version)
        {
            return new PreloadFile(origin, version, format, acid, splits);
        }
    }

    private static FileFormat format(String serializationLibrary)
    {
        if (ParquetPageSourceFactory.isParquetSerde(serializationLibrary)) {
            return FileFormat.PARQUET;
        }
        return ORC_SERDE_CLASS.equals(serializationLibrary) ? FileFormat.ORC : FileFormat.BY_ROW;
    }
}
