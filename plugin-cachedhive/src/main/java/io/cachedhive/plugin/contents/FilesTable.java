package io.cachedhive.plugin.contents;

import com.google.inject.Inject;
import io.cachedhive.plugin.stats.CacheTable.Column;
import io.cachedhive.protocol.wire.Message.ListedFile;
import io.trino.spi.connector.ConnectorAccessControl;
import io.trino.spi.connector.ConnectorSession;
import io.trino.spi.connector.ConnectorSplit;
import io.trino.spi.connector.ConnectorTableMetadata;
import io.trino.spi.connector.ConnectorTransactionHandle;
import io.trino.spi.connector.InMemoryRecordSet;
import io.trino.spi.connector.RecordCursor;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.connector.SystemTable;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.type.Type;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;

import static io.trino.spi.connector.SystemTable.Distribution.SINGLE_COORDINATOR;
import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.files}: a row for each file version with cached blocks, of the tables that the user may read. Rows are made as they are read, so that a cache of any size takes
 * no more memory than a slice of it.
 */
final class FilesTable
        implements SystemTable
{
    private static final List<String> CLASSES = List.of("GUEST", "NORMAL", "HIGH", "PINNED");
    private static final long NEVER = 0xFFFF_FFFFL;

    private static final List<Column<ListedFile>> COLUMNS = List.of(
            Column.of("file_path", VARCHAR, "Location of the file", file -> file.file().location()),
            Column.of("file_size", BIGINT, "Bytes of the file", file -> file.file().length()),
            Column.of("file_modified_time", TIMESTAMP_TZ_MILLIS, "When this version of the file was written", file -> time(file.file().lastModifiedMillis())),
            Column.ofOptional("schema_name", VARCHAR, "Schema of the table whose read cached it first",
                    file -> ReadableTables.parse(file.table()).map(SchemaTableName::getSchemaName)),
            Column.ofOptional("table_name", VARCHAR, "Table whose read cached it first",
                    file -> ReadableTables.parse(file.table()).map(SchemaTableName::getTableName)),
            Column.of("cached_bytes", BIGINT, "Bytes of its blocks that cache workers have, in RAM or on SSD; what two of them have counts twice", ListedFile::cachedBytes),
            Column.of("ram_bytes", BIGINT, "Bytes of those in RAM", ListedFile::ramBytes),
            Column.of("ssd_bytes", BIGINT, "Bytes of those on SSD", ListedFile::ssdBytes),
            Column.of("class", VARCHAR, "The highest class of its blocks: GUEST, NORMAL, HIGH or PINNED", file -> blockClass(file.blockClass())),
            Column.ofOptional("expiry", TIMESTAMP_TZ_MILLIS, "When the first of its blocks expires; NULL if none does", FilesTable::expiry));

    private final ConnectorTableMetadata metadata = new ConnectorTableMetadata(
            new SchemaTableName("cache", "files"),
            COLUMNS.stream().map(Column::metadata).toList(),
            Map.of(),
            Optional.of("File versions with cached blocks, of the tables that you may read"));
    private final CachedFiles files;

    @Inject
    FilesTable(CachedFiles files)
    {
        this.files = requireNonNull(files, "files is null");
    }

    private static String blockClass(int number)
    {
        return number >= 0 && number < CLASSES.size() ? CLASSES.get(number) : "NORMAL";
    }

    private static Optional<Long> expiry(ListedFile file)
    {
        return file.nextExpirySeconds() == NEVER ? Optional.empty() : Optional.of(time(file.nextExpirySeconds() * 1000));
    }

    private static long time(long millis)
    {
        return packDateTimeWithZone(millis, UTC_KEY);
    }

    @Override
    public Distribution getDistribution()
    {
        return SINGLE_COORDINATOR;
    }

    @Override
    public ConnectorTableMetadata getTableMetadata()
    {
        return metadata;
    }

    @Override
    public RecordCursor cursor(
            ConnectorTransactionHandle transaction,
            ConnectorSession session,
            TupleDomain<Integer> constraint,
            Set<Integer> requiredColumns,
            ConnectorSplit split,
            ConnectorAccessControl accessControl)
    {
        List<Type> types = COLUMNS.stream().map(column -> column.metadata().getType()).toList();
        ReadableTables readable = new ReadableTables(accessControl);
        Iterator<ListedFile> listed = files.list();
        Iterable<List<Object>> rows = () -> new Iterator<>()
        {
            private ListedFile next;

            @Override
            public boolean hasNext()
            {
                while (next == null && listed.hasNext()) {
                    ListedFile candidate = listed.next();
                    if (readable.mayRead(candidate.table())) {
                        next = candidate;
                    }
                }
                return next != null;
            }

            @Override
            public List<Object> next()
            {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                List<Object> row = new ArrayList<>(COLUMNS.size());
                for (Column<ListedFile> column : COLUMNS) {
                    row.add(column.value().apply(next));
                }
                next = null;
                return row;
            }
        };
        return new InMemoryRecordSet(types, rows).cursor();
    }
}
