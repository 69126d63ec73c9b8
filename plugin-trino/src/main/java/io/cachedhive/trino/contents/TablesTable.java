package io.cachedhive.trino.contents;

import com.google.common.collect.ImmutableList;
import com.google.inject.Inject;
import io.cachedhive.plugin.config.PricesConfig;
import io.cachedhive.plugin.contents.CachedFiles;
import io.cachedhive.plugin.counters.HitRate;
import io.cachedhive.plugin.counters.WorkerReports;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.ListingMessage.ListedFile;
import io.cachedhive.trino.table.CacheTable.Column;
import io.trino.spi.connector.SchemaTableName;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.tables}: a row for each table that has cached blocks or was read, and one for each of its partitions with cached blocks, of the tables that the user may read.
 */
final class TablesTable
        extends ContentsTable<TableContents>
{
    private static final int MAX_PARTITIONS = 100_000;

    private final CachedFiles files;
    private final WorkerReports reports;

    @Inject
    TablesTable(CachedFiles files, WorkerReports reports, PricesConfig prices)
    {
        super(
                "tables",
                "Tables that have cached blocks or were read, and their partitions, if you may read them; at most 100000 partitions",
                columns(prices));
        this.files = requireNonNull(files, "files is null");
        this.reports = requireNonNull(reports, "reports is null");
    }

    private static List<Column<TableContents>> columns(PricesConfig prices)
    {
        return ImmutableList.<Column<TableContents>>builder()
                .add(Column.of("schema_name", VARCHAR, "Schema", row -> row.table().getSchemaName()))
                .add(Column.of("table_name", VARCHAR, "Table", row -> row.table().getTableName()))
                .add(Column.ofOptional("partition", VARCHAR, "Partition name from the directory names; NULL for the whole table", TableContents::partition))
                .add(Column.of("files", BIGINT, "File versions with cached blocks", TableContents::files))
                .add(Column.of("cached_bytes", BIGINT, "Cached bytes in RAM or on SSD; blocks on two cache workers count twice",
                        TableContents::cachedBytes))
                .add(Column.ofOptional("hit_rate", DOUBLE, "Fraction of cacheable bytes served from the cache, 0 to 1; NULL before the first read and for a partition",
                        row -> row.counters().flatMap(TablesTable::hitRate)))
                .add(counter(CounterNames.REQUESTS, "Reads"))
                .add(counter(CounterNames.RAM_HIT_BYTES, "Bytes read from the local RAM tier"))
                .add(counter(CounterNames.SSD_HIT_BYTES, "Bytes read from the local SSD tier"))
                .add(counter(CounterNames.NON_LOCAL_HIT_BYTES, "Bytes read from cache workers of other hosts"))
                .add(counter(CounterNames.REMOTE_READ_BYTES, "Bytes read from the origin into the cache"))
                .add(counter(CounterNames.BYPASS_BYTES, "Bytes read from the origin, bypassing the cache"))
                .add(Column.ofOptional("saved_requests", BIGINT, "Reads with bytes from the cache, each of which saved a request; NULL for a partition",
                        TableContents::savedRequests))
                .add(Column.ofOptional("saved_bytes", BIGINT, "Bytes served by the cache instead of the object store; NULL for a partition", TableContents::savedBytes))
                .add(Column.ofOptional("saved_cost", DOUBLE,
                        "Cost of the saved requests and bytes minus the cost of bytes between zones, at the catalog's prices; NULL for a partition",
                        row -> row.savedCost(prices)))
                .build();
    }

    private static Optional<Double> hitRate(Map<String, Long> counters)
    {
        OptionalDouble rate = HitRate.of(counters);
        return rate.isPresent() ? Optional.of(rate.getAsDouble()) : Optional.empty();
    }

    private static Column<TableContents> counter(String name, String comment)
    {
        return Column.ofOptional(name, BIGINT, comment + "; NULL for a partition", row -> row.counter(name));
    }

    @Override
    Iterator<TableContents> rows(ReadableTables readable)
    {
        return contents(readable).iterator();
    }

    private static final class Sum
    {
        long files;
        long bytes;

        void add(ListedFile file)
        {
            files++;
            bytes += file.cachedBytes();
        }
    }

    private List<TableContents> contents(ReadableTables readable)
    {
        Map<String, Map<String, Long>> counters = reports.countersByTable();
        Map<String, Sum> tables = new TreeMap<>();
        counters.keySet().stream().filter(readable::mayRead).forEach(table -> tables.put(table, new Sum()));
        Map<String, Map<String, Sum>> partitions = new TreeMap<>();
        int partitionCount = 0;
        Iterator<ListedFile> listed = files.list();
        while (listed.hasNext()) {
            ListedFile file = listed.next();
            if (!readable.mayRead(file.table())) {
                continue;
            }
            tables.computeIfAbsent(file.table(), _ -> new Sum()).add(file);
            Optional<String> partition = partition(file.file().location());
            if (partition.isPresent()) {
                Map<String, Sum> ofTable = partitions.computeIfAbsent(file.table(), _ -> new TreeMap<>());
                if (ofTable.containsKey(partition.get()) || partitionCount < MAX_PARTITIONS) {
                    partitionCount += ofTable.containsKey(partition.get()) ? 0 : 1;
                    ofTable.computeIfAbsent(partition.get(), _ -> new Sum()).add(file);
                }
            }
        }
        List<TableContents> contents = new ArrayList<>();
        tables.forEach((name, sum) -> {
            SchemaTableName table = ReadableTables.parse(name).orElseThrow();
            contents.add(new TableContents(table, Optional.empty(), sum.files, sum.bytes, Optional.of(counters.getOrDefault(name, Map.of()))));
            partitions.getOrDefault(name, Map.of()).forEach((partition, part) ->
                    contents.add(new TableContents(table, Optional.of(partition), part.files, part.bytes, Optional.empty())));
        });
        return contents;
    }

    /**
     * The directories at the end of a file's path that are a column and a value each, as in the names of Hive's partitions.
     */
    static Optional<String> partition(String location)
    {
        int end = location.lastIndexOf('/');
        int start = end;
        while (start > 0) {
            int before = location.lastIndexOf('/', start - 1);
            int equals = location.indexOf('=', before + 1);
            if (before < 0 || equals <= before + 1 || equals > start) {
                break;
            }
            start = before;
        }
        return start == end ? Optional.empty() : Optional.of(location.substring(start + 1, end));
    }
}
