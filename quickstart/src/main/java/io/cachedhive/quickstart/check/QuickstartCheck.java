package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3RequestCounts;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import io.cachedhive.testing.cluster.statistics.CacheStatistics;
import io.cachedhive.testing.cluster.tpch.TpchQuery;
import io.cachedhive.testing.cluster.tpch.TpchTables.Schema;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import static java.util.Objects.requireNonNull;

/**
 * Proves on a running cluster that the cache does what it is for: right rows, no request for data files once they are cached, also after a restart of all cache workers,
 * reads on the hosts that own the data, and counters that add up.
 */
public final class QuickstartCheck
{
    private static final String CACHED = "cachedhive";
    private static final String PLAIN = "hive";
    private static final String STRATEGY = CACHED + ".node_selection_strategy";
    private static final double MAX_NON_LOCAL_SHARE = 0.05;
    private static final Duration RESTART_TIMEOUT = Duration.ofMinutes(2);
    // a second run that begins earlier might be served from what the first one has not finished
    private static final Duration PAUSE_BETWEEN_RUNS = Duration.ofSeconds(5);
    private static final int PASSES = 3;
    // as its requests name it
    private static final String CACHE_WORKER = "cachedhive";

    private final Cluster cluster;
    private final WorkloadRunner runner;
    private final Expectations expectations;
    private final Consumer<String> progress;

    public QuickstartCheck(Cluster cluster, Consumer<String> progress, Expectations expectations)
    {
        this.cluster = requireNonNull(cluster, "cluster is null");
        this.progress = requireNonNull(progress, "progress is null");
        this.expectations = requireNonNull(expectations, "expectations is null");
        runner = new WorkloadRunner(cluster, progress);
    }

    /// All 22 queries over ORC, and those that read each table at least once over Parquet.
    static List<QueryTask> fullWorkload()
    {
        List<QueryTask> tasks = new ArrayList<>();
        TpchQuery.all().forEach(query -> tasks.add(new QueryTask(Schema.ORC, query)));
        tasks.addAll(strategyWorkload());
        return tasks;
    }

    /// Few queries that together read all tables but the two smallest, some of them twice.
    static List<QueryTask> strategyWorkload()
    {
        return QueryTask.of(Schema.PARQUET, 1, 3, 9, 12, 16);
    }

    /// Runs everything; what does not hold is in the expectations.
    ///
    /// @param firstRunIsCold whether the cache was empty before
    /// @return the runs, in their order
    public List<WorkloadRun> run(boolean firstRunIsCold)
            throws Exception
    {
        List<QueryTask> all = fullWorkload();
        List<QueryTask> few = strategyWorkload();

        // else the first run would load and compile what plain Hive's run then finds
        runner.warmUp(PLAIN, List.of(CACHED, PLAIN), all);
        long slowBefore = slowWorkerBytes();
        WorkloadRun first = runner.runCached("first run", CACHED, all, Map.of());
        for (int pass = 1; pass < PASSES && slowWorkerBytes() > slowBefore; pass++) {
            // what readers did not even ask a cache worker for is not cached
            slowBefore = slowWorkerBytes();
            runner.runCached("first run again, since cache workers were silent", CACHED, all, Map.of());
        }
        long firstEnd = System.nanoTime();
        WorkloadRun plain = runner.runPlain("plain Hive", PLAIN, all);
        expectations.hasRows(plain);
        expectations.someDataFileGets(plain);
        expectations.sameRows(plain, first);
        expectations.sourcesSumToRequested(first);
        if (firstRunIsCold) {
            expectations.someDataFileGets(first);
        }

        awaitElapsed(firstEnd, PAUSE_BETWEEN_RUNS);
        WorkloadRun second = runOverCached("second run", all, Map.of());
        expectations.sameRows(plain, second);
        expectCached(second);
        expectations.sameLists(plain, second);

        List<WorkloadRun> runs = new ArrayList<>(List.of(plain, first, second));
        for (String strategy : List.of("SOFT_AFFINITY", "HARD_AFFINITY")) {
            Map<String, String> session = Map.of(STRATEGY, strategy);
            runner.runCached(strategy + " first run", CACHED, few, session);
            WorkloadRun run = runOverCached(strategy + " second run", few, session);
            expectations.sameRows(plain, run);
            expectCached(run);
            expectations.nonLocalAtMost(run, MAX_NON_LOCAL_SHARE);
            runs.add(run);
        }
        // read last: it leaves copies on hosts that do not own them, so that one that is made once more may find all of it on its own host
        AtomicReference<WorkloadRun> spread = new AtomicReference<>();
        WorkloadRun anywhere = runOverCached("NO_PREFERENCE", few, Map.of(STRATEGY, "NO_PREFERENCE"), run -> spread.compareAndSet(null, run));
        expectations.sameRows(plain, anywhere);
        expectCached(anywhere);
        expectations.someNonLocal(spread.get());
        runs.add(anywhere);

        restartCacheWorkers();
        WorkloadRun restarted = runOverCached("after the restart", all, Map.of());
        expectations.sameRows(plain, restarted);
        expectCached(restarted);
        runs.add(restarted);
        return runs;
    }

    /// Runs queries over what is cached. Repeats them if an SSD directory was slow, because its blocks are then read from the object store. Also repeats them if only
    /// readers sent requests to the object store, and only because a cache worker was silent for longer than usual.
    private WorkloadRun runOverCached(String name, List<QueryTask> tasks, Map<String, String> session)
            throws Exception
    {
        return runOverCached(name, tasks, session, _ -> {});
    }

    /// @param passes is given each run
    private WorkloadRun runOverCached(String name, List<QueryTask> tasks, Map<String, String> session, Consumer<WorkloadRun> passes)
            throws Exception
    {
        for (int pass = 1; ; pass++) {
            long slowBefore = slowWorkerBytes();
            long slowDisksBefore = slowDiskOperations();
            WorkloadRun run = runner.runCached(name, CACHED, tasks, session);
            passes.accept(run);
            List<S3Request> requests = run.dataFileRequests();
            if (requests.isEmpty()) {
                return run;
            }
            long slow = slowWorkerBytes() - slowBefore;
            long slowDisks = slowDiskOperations() - slowDisksBefore;
            reportCauses(name, slow, slowDisks);
            boolean onlySilence = requests.stream().noneMatch(request -> request.application().equals(CACHE_WORKER)) && S3RequestCounts.of(requests).getBytes() <= slow;
            if (pass == PASSES || !(slowDisks > 0 || onlySilence)) {
                return run;
            }
            progress.accept("%s: repeating, because %s".formatted(
                    name,
                    slowDisks > 0 ? "an SSD directory was slow" : "readers requested %s bytes from the object store while cache workers were silent".formatted(slow)));
            // a directory that was taken offline returns when a probe finds it fast again
            awaitHealthy();
        }
    }

    private void reportCauses(String name, long slowWorkerBytes, long slowDiskOperations)
            throws SQLException
    {
        try (SqlConnection connection = runner.connect()) {
            progress.accept("%s: the object store received requests; %s bytes because cache workers were silent, %s slow SSD operations".formatted(
                    name,
                    slowWorkerBytes,
                    slowDiskOperations));
            progress.accept("since the cache workers started: " + new CacheStatistics(connection, CACHED).causesOfRequests());
        }
    }

    private long slowDiskOperations()
            throws SQLException
    {
        try (SqlConnection connection = runner.connect()) {
            return new CacheStatistics(connection, CACHED).slowDiskOperations();
        }
    }

    private long slowWorkerBytes()
            throws SQLException
    {
        try (SqlConnection connection = runner.connect()) {
            return new CacheStatistics(connection, CACHED).slowWorkerBytes();
        }
    }

    private void expectCached(WorkloadRun run)
    {
        expectations.noDataFileRequests(run);
        expectations.allFromCache(run);
        expectations.sourcesSumToRequested(run);
    }

    private void restartCacheWorkers()
            throws Exception
    {
        progress.accept("stopping all cache workers");
        cluster.cacheWorkers().forEach(ClusterNode::stop);
        progress.accept("starting all cache workers");
        cluster.cacheWorkers().forEach(ClusterNode::start);
        cluster.cacheWorkers().forEach(ClusterNode::awaitReady);
        awaitHealthy();
    }

    private void awaitHealthy()
            throws Exception
    {
        try (SqlConnection connection = runner.connect()) {
            CacheStatistics statistics = new CacheStatistics(connection, CACHED);
            cluster.watching(RESTART_TIMEOUT, () -> {
                statistics.awaitHealthy(cluster.cacheWorkers().size(), RESTART_TIMEOUT);
                return true;
            });
        }
    }

    private static void awaitElapsed(long sinceNanos, Duration duration)
            throws InterruptedException
    {
        long leftMillis = duration.toMillis() - (System.nanoTime() - sinceNanos) / 1_000_000;
        if (leftMillis > 0) {
            Thread.sleep(leftMillis);
        }
    }
}
