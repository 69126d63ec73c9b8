package io.cachedhive.trino.contents;

import com.google.inject.Inject;
import io.cachedhive.plugin.contents.CachedFiles;
import io.cachedhive.protocol.wire.ListingMessage.ListedFile;
import io.cachedhive.trino.table.CacheTable.Column;
import io.trino.spi.connector.SchemaTableName;

import java.util.Iterator;
import java.util.List;
import java.util.Optional;

import static com.google.common.collect.Iterators.filter;
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
        extends ContentsTable<ListedFile>
{
    private static final List<String> CLASSES = List.of("GUEST", "NORMAL", "HIGH", "PINNED");
    private static final long NEVER = 0xFFFF_FFFFL;

    private static final List<Column<ListedFile>> COLUMNS = List.of(
            Column.of("file_path", VARCHAR, "Location of the file", file -> file.file().location()),
            Column.of("file_size", BIGINT, "Size of the file in bytes", file -> file.file().length()),
            Column.ofOptional("file_modified_time", TIMESTAMP_TZ_MILLIS, "Modification time of this version of the file; NULL for files of Iceberg tables",
                    FilesTable::modified),
            Column.ofOptional("schema_name", VARCHAR, "Schema of the table whose read first cached the file",
                    file -> ReadableTables.parse(file.table()).map(SchemaTableName::getSchemaName)),
            Column.ofOptional("table_name", VARCHAR, "Table whose read first cached the file",
                    file -> ReadableTables.parse(file.table()).map(SchemaTableName::getTableName)),
            Column.of("cached_bytes", BIGINT, "Cached bytes in RAM or on SSD; blocks on two cache workers count twice", ListedFile::cachedBytes),
            Column.of("ram_bytes", BIGINT, "Cached bytes in RAM", ListedFile::ramBytes),
            Column.of("ssd_bytes", BIGINT, "Cached bytes on SSD", ListedFile::ssdBytes),
            Column.of("class", VARCHAR, "Highest class of the file's blocks: GUEST, NORMAL, HIGH or PINNED", file -> blockClass(file.blockClass())),
            Column.ofOptional("expiry", TIMESTAMP_TZ_MILLIS, "Earliest expiry of the file's blocks; NULL if none expires", FilesTable::expiry));

    private final CachedFiles files;

    @Inject
    FilesTable(CachedFiles files)
    {
        super("files", "File versions with cached blocks, of the tables that you may read", COLUMNS);
        this.files = requireNonNull(files, "files is null");
    }

    private static String blockClass(int number)
    {
        return number >= 0 && number < CLASSES.size() ? CLASSES.get(number) : "NORMAL";
    }

    private static Optional<Long> modified(ListedFile file)
    {
        return file.file().isImmutable() ? Optional.empty() : Optional.of(time(file.file().lastModifiedMillis()));
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
    Iterator<ListedFile> rows(ReadableTables readable)
    {
        return filter(files.list(), file -> readable.mayRead(file.table()));
    }
}
