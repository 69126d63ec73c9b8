package io.cachedhive.trino.contents;

import com.google.inject.Inject;
import io.cachedhive.plugin.contents.CachedFiles;
import io.cachedhive.protocol.wire.ListingMessage.ListedFile;
import io.cachedhive.trino.table.CacheTable.Column;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.partitions}: a row for each partition with cached blocks, of the tables that the user may read. Each cached file is in one row, so that the sums are those of
 * {@code cache.files}.
 */
final class PartitionsTable
        extends ContentsTable<PartitionContents>
{
    private static final int MAX_PARTITIONS = 100_000;
    // no directory of a partition has this name
    private static final String OTHER_PARTITIONS = "(other)";

    private static final List<Column<PartitionContents>> COLUMNS = List.of(
            Column.of("schema_name", VARCHAR, "Schema", row -> row.table().getSchemaName()),
            Column.of("table_name", VARCHAR, "Table", row -> row.table().getTableName()),
            Column.ofOptional("partition", VARCHAR,
                    "Partition name from the directory names; NULL for files in no partition; (other) for the partitions of a table above the limit",
                    PartitionContents::partition),
            Column.of("files", BIGINT, "File versions with cached blocks", PartitionContents::files),
            Column.of("cached_bytes", BIGINT, "Cached bytes in RAM or on SSD; blocks on two cache workers count twice", PartitionContents::cachedBytes));

    private final CachedFiles files;

    @Inject
    PartitionsTable(CachedFiles files)
    {
        super("partitions", "Partitions that have cached blocks, of the tables that you may read; at most 100000", COLUMNS);
        this.files = requireNonNull(files, "files is null");
    }

    @Override
    Iterator<PartitionContents> rows(ReadableTables readable)
    {
        return contents(files.list(), readable, MAX_PARTITIONS).iterator();
    }

    static List<PartitionContents> contents(Iterator<ListedFile> files, ReadableTables readable, int maxPartitions)
    {
        // by table and partition; the empty name is of files in no partition
        Map<String, Map<String, FileTotals>> tables = new TreeMap<>();
        int count = 0;
        while (files.hasNext()) {
            ListedFile file = files.next();
            if (!readable.mayRead(file.table())) {
                continue;
            }
            Map<String, FileTotals> partitions = tables.computeIfAbsent(file.table(), _ -> new TreeMap<>());
            String name = PartitionContents.partition(file.file().location()).orElse("");
            if (!name.isEmpty() && !partitions.containsKey(name)) {
                if (count < maxPartitions) {
                    count++;
                }
                else {
                    name = OTHER_PARTITIONS;
                }
            }
            partitions.computeIfAbsent(name, _ -> new FileTotals()).add(file);
        }
        List<PartitionContents> contents = new ArrayList<>();
        tables.forEach((table, partitions) -> partitions.forEach((partition, totals) -> contents.add(new PartitionContents(
                ReadableTables.parse(table).orElseThrow(),
                Optional.of(partition).filter(name -> !name.isEmpty()),
                totals.files(),
                totals.cachedBytes()))));
        return contents;
    }
}
