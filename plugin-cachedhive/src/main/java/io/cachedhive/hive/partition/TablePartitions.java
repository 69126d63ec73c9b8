package io.cachedhive.hive.partition;

import io.cachedhive.trino.partition.TableFiles.PartitionLocation;
import io.trino.metastore.HiveMetastore;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.metastore.HivePartition;
import io.trino.metastore.Partition;
import io.trino.metastore.Table;
import io.trino.plugin.hive.HiveColumnHandle;
import io.trino.plugin.hive.HiveTableHandle;
import io.trino.plugin.hive.HiveTransactionHandle;
import io.trino.plugin.hive.HiveTransactionManager;
import io.trino.spi.TrinoException;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorMetadata;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.connector.Constraint;
import io.trino.spi.connector.ConstraintApplicationResult;
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

import static com.google.common.collect.Lists.partition;
import static io.trino.plugin.base.util.Procedures.checkProcedureArgument;
import static io.trino.plugin.hive.util.HiveUtil.parsePartitionValue;
import static io.trino.spi.StandardErrorCode.INVALID_PROCEDURE_ARGUMENT;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static java.util.Objects.requireNonNull;

/**
 * Finds a table, or some of its partitions, as a procedure names them in the way of Hive's own procedures, and where their files are. Who may not read all of the table is
 * refused.
 */
final class TablePartitions
{
    private static final int PARTITIONS_AT_ONCE = 1000;
    private static final String SYMLINK_INPUT_FORMAT = "org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat";

    private final HiveTransactionManager transactionManager;
    private final HiveMetastoreFactory metastores;

    TablePartitions(HiveTransactionManager transactionManager, HiveMetastoreFactory metastores)
    {
        this.transactionManager = requireNonNull(transactionManager, "transactionManager is null");
        this.metastores = requireNonNull(metastores, "metastores is null");
    }

    /**
     * All places of the files of the table, or of the partitions that have these values.
     *
     * @param values by partition column, of some or all of them; empty for the whole table
     */
    List<PartitionLocation> locations(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName name, Map<String, String> values)
    {
        HiveTransactionHandle transaction = new HiveTransactionHandle(true);
        transactionManager.begin(transaction);
        try {
            ConnectorMetadata metadata = transactionManager.get(transaction, session.getIdentity());
            metadata.beginQuery(session);
            try {
                return locations(session, accessControl, metadata, name, values);
            }
            finally {
                metadata.cleanupQuery(session);
            }
        }
        finally {
            transactionManager.rollback(transaction);
        }
    }

    /**
     * Refuses who may not read all of the table, if there is one, and who may not read it if there was.
     */
    void checkReadable(ConnectorSession session, ConnectorAccessControl accessControl, SchemaTableName name)
    {
        accessControl.checkCanSelectFromColumns(null, name, Optional.empty(), Set.of());
        HiveTransactionHandle transaction = new HiveTransactionHandle(true);
        transactionManager.begin(transaction);
        try {
            ConnectorMetadata metadata = transactionManager.get(transaction, session.getIdentity());
            metadata.beginQuery(session);
            try {
                ConnectorTableHandle handle = metadata.isView(session, name) ? null : metadata.getTableHandle(session, name, Optional.empty(), Optional.empty());
                if (handle != null) {
                    accessControl.checkCanSelectFromColumns(null, name, Optional.empty(), metadata.getColumnHandles(session, handle).keySet());
                }
            }
            finally {
                metadata.cleanupQuery(session);
            }
        }
        finally {
            transactionManager.rollback(transaction);
        }
    }

    private List<PartitionLocation> locations(
            ConnectorSession session,
            ConnectorAccessControl accessControl,
            ConnectorMetadata metadata,
            SchemaTableName name,
            Map<String, String> values)
    {
        // says the same to who may not read the table, whether it is there or not
        accessControl.checkCanSelectFromColumns(null, name, Optional.empty(), Set.of());
        if (metadata.isView(session, name)) {
            throw new TrinoException(NOT_SUPPORTED, "%s is a view: name the tables that it reads".formatted(name));
        }
        HiveTableHandle handle = (HiveTableHandle) metadata.getTableHandle(session, name, Optional.empty(), Optional.empty());
        if (handle == null) {
            throw new TableNotFoundException(name);
        }
        accessControl.checkCanSelectFromColumns(null, name, Optional.empty(), metadata.getColumnHandles(session, handle).keySet());
        HiveMetastore metastore = metastores.createMetastore(Optional.of(session.getIdentity()));
        Table table = metastore.getTable(name.getSchemaName(), name.getTableName()).orElseThrow(() -> new TableNotFoundException(name));
        if (table.getStorage().getStorageFormat().getInputFormatNullable() != null && table.getStorage().getStorageFormat().getInputFormatNullable().equals(SYMLINK_INPUT_FORMAT)) {
            throw new TrinoException(NOT_SUPPORTED, "table %s lists files that lie elsewhere: what is cached of it cannot be named by its location".formatted(name));
        }
        List<HiveColumnHandle> columns = handle.getPartitionColumns();
        if (columns.isEmpty()) {
            checkProcedureArgument(values.isEmpty(), "table %s is not partitioned: leave out partition_columns and partition_values", name);
            return List.of(new PartitionLocation(Optional.empty(), directory(table.getStorage().getLocation())));
        }
        List<String> partitions = values.isEmpty() ? allPartitions(metastore, name, columns) : partitions(session, metadata, handle, name, columns, values);
        List<PartitionLocation> locations = new ArrayList<>();
        if (values.isEmpty()) {
            locations.add(new PartitionLocation(Optional.empty(), directory(table.getStorage().getLocation())));
        }
        for (List<String> some : partition(partitions, PARTITIONS_AT_ONCE)) {
            metastore.getPartitionsByNames(table, some).forEach((partition, found) -> found
                    .map(Partition::getStorage)
                    .ifPresent(storage -> locations.add(new PartitionLocation(Optional.of(partition), directory(storage.getLocation())))));
        }
        return List.copyOf(locations);
    }

    private static String directory(String location)
    {
        return location.endsWith("/") ? location : location + "/";
    }

    private static List<String> allPartitions(HiveMetastore metastore, SchemaTableName name, List<HiveColumnHandle> columns)
    {
        return metastore.getPartitionNamesByFilter(
                        name.getSchemaName(),
                        name.getTableName(),
                        columns.stream().map(HiveColumnHandle::getName).toList(),
                        TupleDomain.all())
                .orElse(List.of());
    }

    private static List<String> partitions(
            ConnectorSession session,
            ConnectorMetadata metadata,
            HiveTableHandle handle,
            SchemaTableName table,
            List<HiveColumnHandle> columns,
            Map<String, String> values)
    {
        Map<ColumnHandle, NullableValue> wanted = new LinkedHashMap<>();
        values.forEach((name, value) -> {
            HiveColumnHandle column = columns.stream()
                    .filter(candidate -> candidate.getName().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new TrinoException(INVALID_PROCEDURE_ARGUMENT, "table %s has no partition column %s, but %s".formatted(
                            table,
                            name,
                            columns.stream().map(HiveColumnHandle::getName).toList())));
            try {
                wanted.put(column, parsePartitionValue(name + "=" + value, value, column.getType()));
            }
            catch (TrinoException e) {
                throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "value of partition column %s is not a %s: %s".formatted(name, column.getType(), value), e);
            }
        });
        ConnectorTableHandle filtered = metadata.applyFilter(session, handle, new Constraint(TupleDomain.fromFixedValues(wanted)))
                .map(ConstraintApplicationResult::getHandle)
                .orElse(handle);
        HiveTableHandle found = (HiveTableHandle) filtered;
        List<String> names = found.getPartitions()
                .map(partitions -> partitions.stream().map(HivePartition::getPartitionId).toList())
                .or(found::getPartitionNames)
                .orElse(List.of());
        if (names.isEmpty()) {
            throw new TrinoException(INVALID_PROCEDURE_ARGUMENT, "table %s has no partition with %s".formatted(table, values));
        }
        return names;
    }
}
