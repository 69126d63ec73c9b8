package io.cachedhive.trino.stats;

import io.cachedhive.plugin.counters.WorkerReport;
import io.cachedhive.plugin.mode.CacheMode;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The state of all cache workers of the cluster.
 *
 * @param workers the reports of the cache workers, one for each expected cache worker
 * @param problem why scans do not fill the cache; empty if they do
 */
record ClusterSummary(List<WorkerReport> workers, CacheMode mode, Optional<String> problem, HitRates hitRates)
{
    private static final String RUNNING = "RUNNING";

    /**
     * The hit rates of the last minutes and hours, 0 to 1; each is empty if no cacheable bytes were read in that time.
     */
    record HitRates(Optional<Double> fiveMinutes, Optional<Double> hour, Optional<Double> day) {}

    ClusterSummary
    {
        workers = List.copyOf(workers);
        requireNonNull(mode, "mode is null");
        requireNonNull(problem, "problem is null");
        requireNonNull(hitRates, "hitRates is null");
    }

    long expected()
    {
        return workers.size();
    }

    long running()
    {
        return workers.stream().filter(worker -> worker.state().equals(RUNNING)).count();
    }

    /**
     * Returns the number of cache workers with a problem.
     */
    long withProblem()
    {
        return workers.stream().filter(worker -> worker.problem().isPresent()).count();
    }

    /**
     * Returns the problem of the catalog, or else that of the first cache worker with one.
     */
    Optional<String> firstProblem()
    {
        return problem.or(() -> workers.stream()
                .filter(worker -> worker.problem().isPresent())
                .map(worker -> "%s: %s".formatted(worker.place().address().host(), worker.problem().orElseThrow()))
                .findFirst());
    }

    /**
     * Returns the sum of a gauge over the cache workers that answered.
     */
    long gauge(String name)
    {
        return workers.stream().mapToLong(worker -> worker.gauge(name).orElse(0L)).sum();
    }
}
