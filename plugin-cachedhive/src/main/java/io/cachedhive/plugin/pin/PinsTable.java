package io.cachedhive.plugin.pin;

import com.google.inject.Inject;
import io.cachedhive.plugin.stats.CacheTable;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Optional;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.pins}: a row for each place that is pinned by name, of the tables that the user may select from.
 */
final class PinsTable
        extends CacheTable<PinnedPlace>
{
    private final Pins pins;

    @Inject
    PinsTable(Pins pins)
    {
        super(
                "pins",
                "What is pinned by name, of the tables that you may select from",
                List.of(
                        Column.of("schema_name", VARCHAR, "Schema", place -> table(place).getSchemaName()),
                        Column.of("table_name", VARCHAR, "Table", place -> table(place).getTableName()),
                        Column.ofOptional("partition", VARCHAR, "Partition, by its name; NULL for all of the table", place -> place.pin().partition()),
                        Column.of("location", VARCHAR, "Where its files are", place -> place.pin().location()),
                        Column.of("since", TIMESTAMP_TZ_MILLIS, "When it was pinned", place -> packDateTimeWithZone(place.pin().createdMillis(), UTC_KEY)),
                        Column.of("cached_bytes", BIGINT, "Bytes of its blocks that cache workers have; what two of them have counts twice", PinnedPlace::cachedBytes),
                        Column.of("pinned_bytes", BIGINT, "Bytes of those that are pinned: others found no room in the share that pinned blocks may take, or are guests",
                                PinnedPlace::pinnedBytes)));
        this.pins = requireNonNull(pins, "pins is null");
    }

    private static SchemaTableName table(PinnedPlace place)
    {
        String name = place.pin().table();
        int dot = name.indexOf('.');
        return new SchemaTableName(name.substring(0, Math.max(0, dot)), name.substring(dot + 1));
    }

    @Override
    protected List<PinnedPlace> rows()
    {
        return pins.list();
    }

    @Override
    protected Optional<SchemaTableName> tableOf(PinnedPlace row)
    {
        return Optional.of(table(row));
    }
}
