package io.cachedhive.hive.release;

import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.PlaceState;
import io.cachedhive.plugin.origin.FileOrigins;
import io.cachedhive.plugin.origin.Tombstones;
import io.cachedhive.plugin.release.DropFlushes;
import io.cachedhive.plugin.release.FileReleases;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.InvalidationMessage.Flushed;
import io.trino.metastore.Column;
import io.trino.metastore.HiveMetastore;
import io.trino.metastore.HiveMetastoreFactory;
import io.trino.metastore.HiveType;
import io.trino.metastore.Partition;
import io.trino.metastore.StorageFormat;
import io.trino.metastore.Table;
import io.trino.spi.TrinoException;
import org.junit.jupiter.api.Test;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static io.trino.plugin.hive.TableType.EXTERNAL_TABLE;
import static io.trino.plugin.hive.TableType.MANAGED_TABLE;
import static io.trino.spi.StandardErrorCode.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A Hive Metastore removes files of managed tables itself.
 */
class TestReleasingMetastore
{
    private static final Column DAY = new Column("day", HiveType.HIVE_STRING, Optional.empty(), Map.of());
    private static final Place PLACE = new Place(
            new WorkerAddress("127.0.0.1", 1),
            PlaceState.ANSWERING,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            0,
            Optional.empty(),
            0);

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final List<String> released = new ArrayList<>();
    private final FileReleases releases = new FileReleases(
            FileOrigins.of("lake", Map.of("fs.s3.enabled", "true"), false),
            () -> List.of(PLACE),
            (_, _, locations) -> {
                released.addAll(locations);
                return CompletableFuture.completedFuture(null);
            },
            (_, task) -> tasks.add(task));
    private final List<String> flushed = new ArrayList<>();
    private final DropFlushes flushes = new DropFlushes(
            new Tombstones(FileOrigins.of("lake", Map.of("fs.s3.enabled", "true"), false)),
            () -> List.of(PLACE),
            (_, tombstones) -> {
                tombstones.forEach(tombstone -> flushed.add(tombstone.location()));
                return CompletableFuture.completedFuture(new Flushed(0, Optional.empty()));
            },
            (_, task) -> tasks.add(task));
    private final Map<String, Table> tables = new HashMap<>();
    private boolean failing;

    private List<String> released()
    {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        assertThat(flushed).isEqualTo(released);
        return released;
    }

    /**
     * The metastore of a new transaction.
     */
    private HiveMetastore metastore()
    {
        InvocationHandler handler = (_, method, arguments) -> switch (method.getName()) {
            case "getTable" -> Optional.ofNullable(tables.get((String) arguments[1]));
            case "getPartition" -> Optional.of(partition((Table) arguments[0], "1"));
            case "getPartitionsByNames" -> Map.of("day=2", Optional.of(partition((Table) arguments[0], "2")), "day=3", Optional.empty());
            case "dropTable", "dropPartition" -> {
                if (failing) {
                    throw new TrinoException(NOT_SUPPORTED, "the metastore fails");
                }
                yield null;
            }
            default -> throw new AssertionError(method);
        };
        HiveMetastore metastore = (HiveMetastore) Proxy.newProxyInstance(HiveMetastore.class.getClassLoader(), new Class<?>[] {HiveMetastore.class}, handler);
        return new ReleasingMetastoreFactory(HiveMetastoreFactory.ofInstance(metastore, false), releases, flushes).createMetastore(Optional.empty());
    }

    private void add(String name, String type, Map<String, String> parameters)
    {
        tables.put(name, Table.builder()
                .setDatabaseName("s")
                .setTableName(name)
                .setOwner(Optional.empty())
                .setTableType(type)
                .setDataColumns(List.of())
                .setPartitionColumns(List.of(DAY))
                .setParameters(parameters)
                .withStorage(storage -> storage.setLocation("s3://lake/" + name).setStorageFormat(StorageFormat.VIEW_STORAGE_FORMAT))
                .build());
    }

    private static Partition partition(Table table, String value)
    {
        return Partition.builder()
                .setDatabaseName("s")
                .setTableName(table.getTableName())
                .setValues(List.of(value))
                .setColumns(List.of())
                .withStorage(storage -> storage.setLocation("s3://lake/%s/day=%s".formatted(table.getTableName(), value)).setStorageFormat(StorageFormat.VIEW_STORAGE_FORMAT))
                .build();
    }

    @Test
    void releasesDroppedTables()
    {
        add("managed", MANAGED_TABLE.name(), Map.of());
        add("purged", EXTERNAL_TABLE.name(), Map.of("external.table.purge", "TRUE"));
        add("external", EXTERNAL_TABLE.name(), Map.of());
        HiveMetastore metastore = metastore();
        for (String table : List.of("managed", "purged", "external")) {
            metastore.getTable("s", table);
            metastore.dropTable("s", table, true);
        }
        assertThat(released()).containsExactly("s3://lake/managed/", "s3://lake/purged/");
    }

    @Test
    void releasesDroppedPartitions()
    {
        add("managed", MANAGED_TABLE.name(), Map.of());
        add("external", EXTERNAL_TABLE.name(), Map.of());
        HiveMetastore metastore = metastore();
        for (String name : List.of("managed", "external")) {
            Table table = metastore.getTable("s", name).orElseThrow();
            metastore.getPartition(table, List.of("1"));
            metastore.getPartitionsByNames(table, List.of("day=2", "day=3"));
            metastore.dropPartition("s", name, List.of("1"), true);
            metastore.dropPartition("s", name, List.of("2"), true);
        }
        assertThat(released()).containsExactly("s3://lake/managed/day=1/", "s3://lake/managed/day=2/");
    }

    @Test
    void releasesNothingThatKeepsItsFiles()
    {
        add("managed", MANAGED_TABLE.name(), Map.of());
        HiveMetastore metastore = metastore();
        Table table = metastore.getTable("s", "managed").orElseThrow();
        metastore.getPartition(table, List.of("1"));
        // as unregister_partition does
        metastore.dropPartition("s", "managed", List.of("1"), false);
        metastore.dropTable("s", "managed", false);
        failing = true;
        assertThatThrownBy(() -> metastore.dropTable("s", "managed", true)).isInstanceOf(TrinoException.class).hasMessage("the metastore fails");
        assertThat(released()).isEmpty();
    }
}
