package io.cachedhive.hive.release;

import com.google.common.reflect.AbstractInvocationHandler;
import io.cachedhive.plugin.release.DropFlushes;
import io.cachedhive.plugin.release.FileReleases;
import io.trino.metastore.HiveMetastore;
import io.trino.metastore.Partition;
import io.trino.metastore.Table;
import io.trino.spi.connector.SchemaTableName;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import static io.trino.plugin.hive.TableType.MANAGED_TABLE;
import static java.util.Objects.requireNonNull;

/**
 * The metastore of one transaction, which flushes tables and partitions whose files are removed with them on the cache workers. A Hive Metastore removes the
 * files itself, without Trino's file systems.
 *
 * <p>Costs no request: before Trino drops a table or a partition, it reads it in the same transaction, and this class remembers the location.
 */
final class ReleasingMetastore
        extends AbstractInvocationHandler
{
    // of tables that a Hive Metastore made external when they were created as managed
    private static final String PURGE = "external.table.purge";

    private final HiveMetastore delegate;
    private final FileReleases releases;
    private final DropFlushes flushes;
    private final Map<SchemaTableName, Table> tables = new ConcurrentHashMap<>();
    private final Map<PartitionKey, String> partitionLocations = new ConcurrentHashMap<>();

    private record PartitionKey(SchemaTableName table, List<String> values) {}

    private ReleasingMetastore(HiveMetastore delegate, FileReleases releases, DropFlushes flushes)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.releases = requireNonNull(releases, "releases is null");
        this.flushes = requireNonNull(flushes, "flushes is null");
    }

    static HiveMetastore of(HiveMetastore delegate, FileReleases releases, DropFlushes flushes)
    {
        return (HiveMetastore) Proxy.newProxyInstance(
                HiveMetastore.class.getClassLoader(),
                new Class<?>[] {HiveMetastore.class},
                new ReleasingMetastore(delegate, releases, flushes));
    }

    @Override
    protected Object handleInvocation(Object proxy, Method method, Object[] arguments)
            throws Throwable
    {
        Object result;
        try {
            result = method.invoke(delegate, arguments);
        }
        catch (InvocationTargetException e) {
            throw e.getCause();
        }
        switch (method.getName()) {
            case "getTable" -> ((Optional<?>) result).ifPresent(table -> keep((Table) table));
            case "getPartition" -> ((Optional<?>) result).ifPresent(partition -> keep((Partition) partition));
            case "getPartitionsByNames" -> ((Map<?, ?>) result).values().forEach(partition -> ((Optional<?>) partition).ifPresent(found -> keep((Partition) found)));
            case "dropTable" -> {
                if ((boolean) arguments[2]) {
                    droppedTable(new SchemaTableName((String) arguments[0], (String) arguments[1]));
                }
            }
            case "dropPartition" -> {
                if ((boolean) arguments[3]) {
                    droppedPartition(new SchemaTableName((String) arguments[0], (String) arguments[1]), values((List<?>) arguments[2]));
                }
            }
            default -> {}
        }
        return result;
    }

    private void keep(Table table)
    {
        tables.put(table.getSchemaTableName(), table);
    }

    private void keep(Partition partition)
    {
        partitionLocations.put(new PartitionKey(partition.getSchemaTableName(), List.copyOf(partition.getValues())), partition.getStorage().getLocation());
    }

    private void droppedTable(SchemaTableName name)
    {
        Table table = tables.remove(name);
        if (table != null && ownsFiles(table)) {
            table.getStorage().getOptionalLocation().filter(location -> !location.isEmpty()).ifPresent(this::removed);
        }
    }

    private void droppedPartition(SchemaTableName name, List<String> values)
    {
        Table table = tables.get(name);
        String location = partitionLocations.remove(new PartitionKey(name, values));
        if (table != null && location != null && ownsFiles(table)) {
            removed(location);
        }
    }

    /**
     * The release frees space at once, on the cache workers that are there. The flush is recorded, for those that are not.
     */
    private void removed(String location)
    {
        releases.releaseDirectory(location);
        flushes.flushDirectory(location);
    }

    private static List<String> values(List<?> values)
    {
        return values.stream().map(String.class::cast).toList();
    }

    private static boolean ownsFiles(Table table)
    {
        return table.getTableType().equals(MANAGED_TABLE.name()) || "true".equalsIgnoreCase(table.getParameters().get(PURGE));
    }
}
