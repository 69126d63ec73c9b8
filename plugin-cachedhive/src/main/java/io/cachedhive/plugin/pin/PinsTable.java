package io.cachedhive.plugin.pin;

import com.google.inject.Inject;
import io.cachedhive.plugin.table.CacheTable;
import io.cachedhive.protocol.file.Pin;
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
                "What is pinned by name, of the tables that you may select from",
                List.of(
                        Column.ofOptional("schema_name", VARCHAR, "Schema", row -> row.table().map(SchemaTableName::getSchemaName)),
                        Column.ofOptional("table_name", VARCHAR, "Table", row -> row.table().map(SchemaTableName::getTableName)),
                        Column.ofOptional("partition", VARCHAR, "Partition, by its name; NULL for all of the table", row -> row.pin().flatMap(Pin::partition)),
                        Column.ofOptional("location", VARCHAR, "Where its files are", row -> row.pin().map(Pin::location)),
                        Column.ofOptional("since", TIMESTAMP_TZ_MILLIS, "When it was pinned", row -> row.pin().map(pin -> packDateTimeWithZone(pin.createdMillis(), UTC_KEY))),
                        Column.ofOptional("cached_bytes", BIGINT, "Bytes of its blocks that cache workers have; what two of them have counts twice",
                                row -> row.place().map(PinnedPlace::cachedBytes)),
                        Column.ofOptional("pinned_bytes", BIGINT,
                                "Bytes of those that are pinned: others found no room in the share that pinned blocks may take, or are guests",
                                row -> row.place().map(PinnedPlace::pinnedBytes)),
                        Column.ofOptional("problem", VARCHAR,
                                "Which cache worker does not say what it has, and why: it has a row with nothing else, and its bytes are in no other one",
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
