package io.cachedhive.trino.rules;

import com.google.inject.Inject;
import io.cachedhive.plugin.rules.CacheRules;
import io.cachedhive.plugin.rules.CacheRules.CountedRule;
import io.cachedhive.plugin.rules.RuleRegistry;
import io.cachedhive.protocol.wire.FillClass;
import io.cachedhive.trino.table.CacheTable;

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
    private final RuleRegistry book;

    /**
     * @param number from 1; empty for the default
     */
    record Row(Optional<Long> number, CountedRule counted, Instant loaded, Optional<String> problem) {}

    @Inject
    RulesTable(RuleRegistry book)
    {
        super(
                "rules",
                "Active rules in the order of evaluation, with match counts since the coordinator started or the rules changed",
                List.of(
                        Column.ofOptional("number", BIGINT, "Position in the rules file, from 1; NULL for the default when no rule matches", Row::number),
                        Column.of("name", VARCHAR, "Name of the rule, as shown by EXPLAIN ANALYZE VERBOSE", row -> row.counted().rule().name()),
                        Column.of("conditions", VARCHAR, "Conditions of the rules file, as JSON", row -> row.counted().rule().conditionsText()),
                        Column.of("action", VARCHAR, "CACHE, READ_ONLY, SHADOW or BYPASS", row -> row.counted().rule().action().name()),
                        Column.ofOptional("class", VARCHAR, "Class of the blocks: NORMAL, HIGH or PINNED; NULL if unspecified",
                                row -> row.counted().rule().decision().fillClass().map(FillClass::name)),
                        Column.ofOptional("ttl_seconds", DOUBLE, "Seconds from the fill of a block to its expiry; NULL for cache.ttl of the cache workers",
                                RulesTable::ttlSeconds),
                        Column.ofOptional("quota_bytes", BIGINT, "Limit on the cached bytes of each table over all cache workers; NULL if unspecified",
                                row -> row.counted().rule().tableQuotaBytes().stream().boxed().findFirst()),
                        Column.of("matched_scans", BIGINT, "Scans with splits that matched the rule", row -> row.counted().counter().scans()),
                        Column.of("matched_splits", BIGINT, "Splits that matched the rule", row -> row.counted().counter().splits()),
                        Column.of("matched_bytes", BIGINT, "Bytes of the splits that matched the rule, whether read or not", row -> row.counted().counter().bytes()),
                        Column.ofOptional("last_matched", TIMESTAMP_TZ_MILLIS, "Start of the last scan that matched; NULL if none did",
                                row -> row.counted().counter().last().map(RulesTable::time)),
                        Column.of("loaded", TIMESTAMP_TZ_MILLIS, "Time at which the rules became active", row -> time(row.loaded())),
                        Column.ofOptional("problem", VARCHAR, "Problem of the current rules file, or of a rule that never decides, and how to fix it; NULL if there is none",
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
            rows.add(new Row(rule.isDefault() ? Optional.empty() : Optional.of(rows.size() + 1L), rule, rules.loaded(), problem.or(rule.rule()::problem)));
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
