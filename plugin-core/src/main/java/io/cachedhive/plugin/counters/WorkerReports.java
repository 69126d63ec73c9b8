package io.cachedhive.plugin.counters;

import com.google.inject.Inject;
import io.cachedhive.plugin.membership.ClusterMembership;
import io.cachedhive.plugin.membership.Place;
import io.cachedhive.plugin.membership.SharedWorkerAdmin;
import io.cachedhive.plugin.membership.WorkerProblems;
import io.cachedhive.plugin.mode.CacheDecisions;
import io.cachedhive.protocol.ring.WorkerAddress;
import io.cachedhive.protocol.wire.StatusMessage.CountedTable;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.protocol.wire.StatusMessage.Tables;

import java.util.ArrayList;
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
        // may read the rules file, which must not hold up the thread of the replies
        Optional<String> catalogProblem = decisions.problem();
        List<CompletableFuture<WorkerReport>> reports = membership.places().stream()
                .map(place -> workerAdmin.get().stats(place.address()).handle((stats, failure) -> report(place, stats, failure, catalogProblem)))
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
        List<TablePages> all = membership.places().stream()
                .map(place -> new TablePages(place.address()))
                .toList();
        // the next page of every cache worker at once; each is short for both ends
        for (List<TablePages> open = all; !open.isEmpty(); open = open.stream().filter(TablePages::isOpen).toList()) {
            List<CompletableFuture<Void>> requests = open.stream()
                    .map(pages -> workerAdmin.get().tables(pages.address, pages.after).handle(pages::add))
                    .toList();
            requests.forEach(CompletableFuture::join);
        }
        Map<String, Map<String, Long>> sums = new HashMap<>();
        for (TablePages pages : all) {
            for (CountedTable table : pages.tables) {
                Map<String, Long> sum = sums.computeIfAbsent(table.table(), _ -> new HashMap<>());
                table.counters().forEach((name, count) -> sum.merge(name, count, Long::sum));
            }
        }
        return sums;
    }

    /**
     * The counters by table that a cache worker has returned so far. Empty if it does not answer all requests.
     */
    private static final class TablePages
    {
        final WorkerAddress address;
        final List<CountedTable> tables = new ArrayList<>();
        String after = "";
        boolean complete;

        TablePages(WorkerAddress address)
        {
            this.address = address;
        }

        boolean isOpen()
        {
            return !complete;
        }

        Void add(Tables page, Throwable failure)
        {
            // a page that is not beyond the last one would be requested for ever
            boolean goesOn = failure == null && (!page.more() || page.tables().getLast().table().compareTo(after) > 0);
            if (!goesOn) {
                tables.clear();
                complete = true;
                return null;
            }
            tables.addAll(page.tables());
            complete = !page.more();
            after = complete ? after : page.tables().getLast().table();
            return null;
        }
    }

    private WorkerReport report(Place place, Stats stats, Throwable failure, Optional<String> catalogProblem)
    {
        Optional<String> workerProblem = failure == null ?
                place.problem()
                        // before one of the cache worker's own, which may not concern this catalog and would hide it
                        .or(() -> workerAdmin.get().originProblem(place.address()))
                        .or(stats::problem)
                        .or(() -> ringProblem(place))
                        .or(workerAdmin::certificateProblem) :
                Optional.of(place.problem().orElseGet(() -> WorkerProblems.describe(place.address(), failure)));
        // what keeps the whole catalog from the cache comes first
        return new WorkerReport(place, Optional.ofNullable(stats), catalogProblem.or(() -> workerProblem));
    }

    private static Optional<String> ringProblem(Place place)
    {
        if (place.ringShare() > 0 || place.lastPong().filter(pong -> pong.state().equals("DRAINING")).isPresent()) {
            return Optional.empty();
        }
        return Optional.of("the cache worker on %s owns no chunks yet: the ring takes it in within 10 s".formatted(place.address()));
    }
}
