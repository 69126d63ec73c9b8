package io.cachedhive.trino.stats;

import com.google.inject.Inject;
import io.cachedhive.plugin.counters.HitRateHistory;
import io.cachedhive.plugin.counters.HitRateSampler;
import io.cachedhive.plugin.counters.WorkerReport;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.trino.stats.ClusterSummary.HitRates;
import io.cachedhive.trino.table.CacheTable;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;

import static io.trino.spi.type.BigintType.BIGINT;
import static io.trino.spi.type.DoubleType.DOUBLE;
import static io.trino.spi.type.VarcharType.VARCHAR;
import static java.util.Objects.requireNonNull;

/**
 * {@code cache.summary}: one row with the state of the cache.
 */
final class SummaryTable
        extends CacheTable<ClusterSummary>
{
    private final Supplier<ClusterSummary> current;

    @Inject
    SummaryTable(HitRateSampler sampler, CacheDecisions decisions)
    {
        this(() -> summary(sampler, decisions));
    }

    SummaryTable(Supplier<ClusterSummary> current)
    {
        super(
                "summary",
                "State of the cache in one row",
                List.of(
                        Column.of("mode", VARCHAR, "Mode of the catalog: ON, READ_ONLY, SHADOW, or OFF", summary -> summary.mode().name()),
                        Column.of("workers", BIGINT, "Cache workers in the state RUNNING", ClusterSummary::running),
                        Column.of("expected_workers", BIGINT, "Hosts that have, or are expected to have, a cache worker", ClusterSummary::expected),
                        Column.of("workers_with_problem", BIGINT, "Cache workers with a problem, as in the table stats", ClusterSummary::withProblem),
                        Column.ofOptional("problem", VARCHAR, "Problem of the catalog, or the first problem of a cache worker; NULL when healthy", ClusterSummary::firstProblem),
                        Column.ofOptional("hit_rate_5_minutes", DOUBLE, "Hit rate of the last 5 minutes, 0 to 1; NULL if no cacheable bytes were read",
                                summary -> summary.hitRates().fiveMinutes()),
                        Column.ofOptional("hit_rate_1_hour", DOUBLE, "Hit rate of the last hour, 0 to 1; NULL if no cacheable bytes were read",
                                summary -> summary.hitRates().hour()),
                        Column.ofOptional("hit_rate_24_hours", DOUBLE, "Hit rate of the last 24 hours, 0 to 1; NULL if no cacheable bytes were read",
                                summary -> summary.hitRates().day()),
                        gauge(CounterNames.RAM_USED_BYTES, "Bytes of blocks in the RAM tiers, over all catalogs"),
                        gauge(CounterNames.RAM_CAPACITY_BYTES, "Capacity of the RAM tiers"),
                        gauge(CounterNames.SSD_USED_BYTES, "Bytes of blocks in the SSD tiers, over all catalogs"),
                        gauge(CounterNames.SSD_CAPACITY_BYTES, "Capacity of the SSD tiers")));
        this.current = requireNonNull(current, "current is null");
    }

    private static Column<ClusterSummary> gauge(String name, String comment)
    {
        return Column.of(name, BIGINT, comment + "; only of cache workers that answered", summary -> summary.gauge(name));
    }

    @Override
    protected List<ClusterSummary> rows()
    {
        return List.of(current.get());
    }

    private static ClusterSummary summary(HitRateSampler sampler, CacheDecisions decisions)
    {
        List<WorkerReport> reports = sampler.request();
        HitRateHistory history = sampler.history();
        return new ClusterSummary(
                reports,
                decisions.mode(),
                decisions.problem(),
                new HitRates(hitRate(history, Duration.ofMinutes(5)), hitRate(history, Duration.ofHours(1)), hitRate(history, Duration.ofHours(24))));
    }

    private static Optional<Double> hitRate(HitRateHistory history, Duration window)
    {
        OptionalDouble rate = history.hitRate(window);
        return rate.isPresent() ? Optional.of(rate.getAsDouble()) : Optional.empty();
    }
}
