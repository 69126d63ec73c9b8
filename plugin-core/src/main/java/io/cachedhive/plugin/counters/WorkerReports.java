package io.cachedhive.plugin.counters;

import com.google.inject.Inject;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.membership.WorkerProblems;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.protocol.wire.StatusMessage.Stats;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import static java.util.Objects.requireNonNull;

/**
 * Asks all cache workers at once, for as long as one may stay silent.
 */
public final class WorkerReports
{
    private final ClusterMembership membership;
    private final SharedWorkerAdmin workerAdmin;
    private final CacheDecisions decisions;

    @Inject
    WorkerReports(ClusterMembership membership, SharedWorkerAdmin workerAdmin, CacheDecisions decisions)
    {
        this.membership = requireNonNull(membership, "membership is null");
        this.workerAdmin = requireNonNull(workerAdmin, "workerAdmin is null");
        this.decisions = requireNonNull(decisions, "decisions is null");
    }

    public List<WorkerReport> ask()
    {
        List<CompletableFuture<WorkerReport>> reports = membership.places().stream()
                .map(place -> workerAdmin.get().stats(place.address()).handle((stats, failure) -> report(place, stats, failure)))
                .toList();
        return reports.stream()
                .map(CompletableFuture::join)
                .toList();
    }

    /**
     * Of the catalog, summed over those that answer: by {@code schema.table}, then by names of {@link io.cachedhive.protocol.wire.CounterNames}.
     */
    public Map<String, Map<String, Long>> countersByTable()
    {
        Map<String, Map<String, Long>> sums = new HashMap<>();
        for (WorkerReport report : ask()) {
            report.stats().ifPresent(stats -> stats.tables().forEach((table, counters) -> {
                Map<String, Long> sum = sums.computeIfAbsent(table, _ -> new HashMap<>());
                counters.forEach((name, count) -> sum.merge(name, count, Long::sum));
            }));
        }
        return sums;
    }

    private WorkerReport report(Place place, Stats stats, Throwable failure)
    {
        Optional<String> workerProblem = failure == null ?
                place.problem()
                        .or(stats::problem)
                        .or(() -> workerAdmin.get().originProblem(place.address()))
                        .or(() -> ringProblem(place)) :
                Optional.of(place.problem().orElseGet(() -> WorkerProblems.describe(place.address(), failure)));
        // what keeps the whole catalog from the cache comes first
        return new WorkerReport(place, Optional.ofNullable(stats), decisions.problem().or(() -> workerProblem));
    }

    private static Optional<String> ringProblem(Place place)
    {
        if (place.ringShare() > 0 || place.lastPong().filter(pong -> pong.state().equals("DRAINING")).isPresent()) {
            return Optional.empty();
        }
        return Optional.of("the cache worker on %s owns no chunks yet: the ring takes it in within 10 s".formatted(place.address()));
    }
}
