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
 * {@code cache.tables}: a row for each table that has cached blocks or was read, of the tables that the user may read.
 */
final class TablesTable
        extends ContentsTable<TableContents>
{
    private final CachedFiles files;
    private final WorkerReports reports;

    @Inject
    TablesTable(CachedFiles files, WorkerReports reports, PricesConfig prices)
    {
        super("tables", "Tables that have cached blocks or were read, if you may read them", columns(prices));
        this.files = requireNonNull(files, "files is null");
        this.reports = requireNonNull(reports, "reports is null");
    }

    private static List<Column<TableContents>> columns(PricesConfig prices)
    {
        return ImmutableList.<Column<TableContents>>builder()
                .add(Column.of("schema_name", VARCHAR, "Schema", row -> row.table().getSchemaName()))
                .add(Column.of("table_name", VARCHAR, "Table", row -> row.table().getTableName()))
                .add(Column.of("files", BIGINT, "File versions with cached blocks", TableContents::files))
                .add(Column.of("cached_bytes", BIGINT, "Cached bytes in RAM or on SSD; blocks on two cache workers count twice",
                        TableContents::cachedBytes))
                .add(Column.ofOptional("hit_rate", DOUBLE, "Fraction of cacheable bytes served from the cache, 0 to 1; NULL before the first read",
                        row -> hitRate(row.counters())))
                .add(counter(CounterNames.REQUESTS, "Reads"))
                .add(counter(CounterNames.RAM_HIT_BYTES, "Bytes read from the local RAM tier"))
                .add(counter(CounterNames.SSD_HIT_BYTES, "Bytes read from the local SSD tier"))
                .add(counter(CounterNames.NON_LOCAL_HIT_BYTES, "Bytes read from cache workers of other hosts"))
                .add(counter(CounterNames.REMOTE_READ_BYTES, "Bytes read from the origin into the cache"))
                .add(counter(CounterNames.BYPASS_BYTES, "Bytes read from the origin, bypassing the cache"))
                .add(Column.of("saved_requests", BIGINT, "Reads with bytes from the cache, each of which saved a request", TableContents::savedRequests))
                .add(Column.of("saved_bytes", BIGINT, "Bytes served by the cache instead of the object store", TableContents::savedBytes))
                .add(Column.of("saved_cost", DOUBLE,
                        "Cost of the saved requests and bytes minus the cost of bytes between zones, at the catalog's prices",
                        row -> row.savedCost(prices)))
                .add(Column.of("spent_requests", BIGINT, "Reads with bytes from the object store", TableContents::spentRequests))
                .add(Column.of("spent_cost", DOUBLE, "Cost of the requests to the object store and of their bytes, at the catalog's prices",
                        row -> row.spentCost(prices)))
                .build();
    }

    private static Optional<Double> hitRate(Map<String, Long> counters)
    {
        OptionalDouble rate = HitRate.of(counters);
        return rate.isPresent() ? Optional.of(rate.getAsDouble()) : Optional.empty();
    }

    private static Column<TableContents> counter(String name, String comment)
    {
        return Column.of(name, BIGINT, comment, row -> row.counter(name));
    }

    @Override
    Iterator<TableContents> rows(ReadableTables readable)
    {
        Map<String, Map<String, Long>> counters = reports.countersByTable();
        Map<String, FileTotals> tables = new TreeMap<>();
        counters.keySet().stream().filter(readable::mayRead).forEach(table -> tables.put(table, new FileTotals()));
        Iterator<ListedFile> listed = files.list();
        while (listed.hasNext()) {
            ListedFile file = listed.next();
            if (readable.mayRead(file.table())) {
                tables.computeIfAbsent(file.table(), _ -> new FileTotals()).add(file);
            }
        }
        List<TableContents> contents = new ArrayList<>();
        tables.forEach((name, totals) -> contents.add(new TableContents(
                ReadableTables.parse(name).orElseThrow(),
                totals.files(),
                totals.cachedBytes(),
                counters.getOrDefault(name, Map.of()))));
        return contents.iterator();
    }
}
