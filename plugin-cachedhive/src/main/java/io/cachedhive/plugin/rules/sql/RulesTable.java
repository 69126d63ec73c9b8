package io.cachedhive.plugin.rules.sql;

import com.google.inject.Inject;
import io.cachedhive.plugin.rules.CacheRules;
import io.cachedhive.plugin.rules.CacheRules.CountedRule;
import io.cachedhive.plugin.rules.RuleBook;
import io.cachedhive.plugin.table.CacheTable;
import io.cachedhive.protocol.wire.FillClass;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DateTimeEncoding.packDateTimeWithZone;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.TimeZoneKey.UTC_KEY;
import static io.trino.spi.type.TimestampWithTimeZoneType.TIMESTAMP_TZ_MILLIS;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

final class RulesTable
        extends CacheTable<RulesTable.Row>
{
    private final RuleBook book;

    /**
     * @param number from 1; empty for the default
     */
    record Row(Optional<Long> number, CountedRule counted, Instant loaded, Optional<String> problem) {}

    @Inject
    RulesTable(RuleBook book)
    {
        super(
                "rules",
                "Rules in force, in the order in which they are tried, with how often they decided since the coordinator started or they were changed",
                List.of(
                        Column.ofOptional("number", BIGINT, "Place in the rules file, from 1; NULL for what happens where no rule matches", Row::number),
                        Column.of("name", VARCHAR, "Name of the rule, as EXPLAIN ANALYZE VERBOSE shows it", row -> row.counted().rule().name()),
                        Column.of("conditions", VARCHAR, "Conditions as they stand in the rules file: JSON", row -> row.counted().rule().conditionsText()),
                        Column.of("action", VARCHAR, "CACHE or BYPASS", row -> row.counted().rule().decision().bypass() ? "BYPASS" : "CACHE"),
                        Column.ofOptional("class", VARCHAR, "Class of the blocks: NORMAL, HIGH or PINNED; NULL if the rule says none",
                                row -> row.counted().rule().decision().fillClass().map(FillClass::name)),
                        Column.ofOptional("ttl_seconds", DOUBLE, "From the fill of a block until it expires, in seconds; NULL for the cache workers' cache.ttl",
                                RulesTable::ttlSeconds),
                        Column.ofOptional("quota_bytes", BIGINT, "Bytes that each table may have over all cache workers; NULL if the rule says none",
                                row -> row.counted().rule().tableQuotaBytes().stream().boxed().findFirst()),
                        Column.of("matched_scans", BIGINT, "Scans for whose splits it decided", row -> row.counted().counter().scans()),
                        Column.of("matched_splits", BIGINT, "Splits for which it decided", row -> row.counted().counter().splits()),
                        Column.of("matched_bytes", BIGINT, "Bytes of these splits, read or not", row -> row.counted().counter().bytes()),
                        Column.ofOptional("last_matched", TIMESTAMP_TZ_MILLIS, "When the last of these scans began; NULL if there was none",
                                row -> row.counted().counter().last().map(RulesTable::time)),
                        Column.of("loaded", TIMESTAMP_TZ_MILLIS, "When the rules came into force", row -> time(row.loaded())),
                        Column.ofOptional("problem", VARCHAR, "What is wrong with the rules file as it is now, and how to mend it; NULL if these are its rules",
                                Row::problem)));
        this.book = requireNonNull(book, "book is null");
    }

    @Override
    protected List<Row> rows()
    {
        CacheRules rules = book.current();
        Optional<String> problem = book.problem();
        List<Row> rows = new ArrayList<>();
        for (CountedRule rule : rules.rules()) {
            rows.add(new Row(rule.isDefault() ? Optional.empty() : Optional.of(rows.size() + 1L), rule, rules.loaded(), problem));
        }
        return rows;
    }

    private static Optional<Double> ttlSeconds(Row row)
    {
        return row.counted().rule().decision().ttlMillis().stream().mapToObj(millis -> millis / 1000.0).findFirst();
    }

    private static long time(Instant instant)
    {
        return packDateTimeWithZone(instant.toEpochMilli(), UTC_KEY);
    }
}
