package io.cachedhive.trino.pin;

import com.google.inject.Inject;
import io.cachedhive.plugin.pin.KnownPins;
import io.cachedhive.plugin.pin.PinnedPlace;
import io.cachedhive.protocol.file.Pin;
import io.cachedhive.trino.table.CacheTable;
import io.trino.spi.connector.SchemaTableName;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.pins}: a row for each place that is pinned by name, of the tables that the user may select from, and one for each cache worker that does not say what it has.
 */
final class PinsTable
        extends CacheTable<PinsTable.Row>
{
    private final Pins pins;

    /**
     * One of both.
     */
    record Row(Optional<PinnedPlace> place, Optional<String> problem)
    {
        Optional<SchemaTableName> table()
        {
            return pin().map(Pin::table).map(name -> {
                int dot = name.indexOf('.');
                return new SchemaTableName(name.substring(0, Math.max(0, dot)), name.substring(dot + 1));
            });
        }

        Optional<Pin> pin()
        {
            return place.map(PinnedPlace::pin);
        }
    }

    @Inject
    PinsTable(Pins pins)
    {
        super(
                "pins",
                "Pinned tables and partitions that you may select from",
                List.of(
                        Column.ofOptional("schema_name", VARCHAR, "Schema", row -> row.table().map(SchemaTableName::getSchemaName)),
                        Column.ofOptional("table_name", VARCHAR, "Table", row -> row.table().map(SchemaTableName::getTableName)),
                        Column.ofOptional("partition", VARCHAR, "Partition name; NULL for the whole table", row -> row.pin().flatMap(Pin::partition)),
                        Column.ofOptional("location", VARCHAR, "Location of the files", row -> row.pin().map(Pin::location)),
                        Column.ofOptional("since", TIMESTAMP_TZ_MILLIS, "Time of the pin", row -> row.pin().map(pin -> packDateTimeWithZone(pin.createdMillis(), UTC_KEY))),
                        Column.ofOptional("cached_bytes", BIGINT, "Cached bytes; blocks on two cache workers count twice",
                                row -> row.place().map(PinnedPlace::cachedBytes)),
                        Column.ofOptional("pinned_bytes", BIGINT,
                                "Cached bytes with class PINNED; other bytes exceeded the limit on pinned bytes or are guest blocks",
                                row -> row.place().map(PinnedPlace::pinnedBytes)),
                        Column.ofOptional("problem", VARCHAR,
                                "Cache worker that did not answer, and the reason; its bytes are missing from the other rows",
                                Row::problem)));
        this.pins = requireNonNull(pins, "pins is null");
    }

    static List<Row> rows(KnownPins known)
    {
        return Stream.concat(
                known.places().values().stream()
                        .filter(place -> place.pin().pinned())
                        .map(place -> new Row(Optional.of(place), Optional.empty())),
                known.problems().stream().map(problem -> new Row(Optional.empty(), Optional.of(problem)))).toList();
    }

    @Override
    protected List<Row> rows()
    {
        return rows(pins.list());
    }

    @Override
    protected Optional<SchemaTableName> tableOf(Row row)
    {
        return row.table();
    }
}
