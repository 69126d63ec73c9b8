package io.cachedhive.plugin.counters;

import io.cachedhive.plugin.membership.Place;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Stats;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

import static java.util.Objects.requireNonNull;

/**
 * What a cache worker says of itself and of the catalog's counters, or that it says nothing.
 *
 * @param stats empty if it did not answer
 * @param problem one sentence with its remedy; empty if all is well
 */
public record WorkerReport(Place place, Optional<Stats> stats, Optional<String> problem)
{
    private static final String UNREACHABLE = "UNREACHABLE";

    public WorkerReport
    {
        requireNonNull(place, "place is null");
        requireNonNull(stats, "stats is null");
        requireNonNull(problem, "problem is null");
    }

    public Optional<String> nodeId()
    {
        return stats.map(value -> value.status().worker())
                .or(place::worker)
                .map(Object::toString);
    }

    public String state()
    {
        return stats.map(value -> value.status().state()).orElse(UNREACHABLE);
    }

    /**
     * The sums over all tables of the catalog.
     */
    public Map<String, Long> counters()
    {
        return stats.map(Stats::counters).orElse(Map.of());
    }

    /**
     * @return empty if the worker did not answer
     */
    public Optional<Long> counter(String name)
    {
        return stats.map(_ -> counters().getOrDefault(name, 0L));
    }

    /**
     * @return empty if the worker did not answer
     */
    public Optional<Long> gauge(String name)
    {
        return stats.map(value -> value.gauges().getOrDefault(name, 0L));
    }

    /**
     * Returns a gauge that not every cache worker has.
     */
    public Optional<Long> optionalGauge(String name)
    {
        return stats.map(value -> value.gauges().get(name));
    }

    public OptionalDouble hitRate()
    {
        return HitRate.of(counters());
    }

    /**
     * By cause; without the causes that never came.
     */
    public Map<String, Long> bypassBytesByCause()
    {
        Map<String, Long> causes = new HashMap<>();
        counters().forEach((name, count) -> {
            if (name.startsWith(CounterNames.BYPASS_BYTES_PREFIX) && count > 0) {
                causes.put(name.substring(CounterNames.BYPASS_BYTES_PREFIX.length()), count);
            }
        });
        return causes;
    }
}
