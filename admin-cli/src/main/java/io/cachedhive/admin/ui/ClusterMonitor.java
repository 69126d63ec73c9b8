package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.ui.WorkerState.Account;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * Reads the state of the cache workers periodically, and keeps the last one, with the hit rates of the last hour.
 */
public final class ClusterMonitor
        implements AutoCloseable
{
    // hosts at the same time, so that the program gets along with little memory
    private static final int BATCH = 64;
    private static final Duration TABLES_PAUSE = Duration.ofSeconds(30);
    // counters of many tables take long to send, so that they are read less often
    private static final int TABLES_PAUSE_FACTOR = 10;

    private final List<WorkerHost> hosts;
    private final WorkerHosts http;
    private final Runnable onRefusal;
    private final Consumer<String> onProblem;
    private final Duration interval;
    private final LongSupplier clockMillis;
    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().name("ui-monitor").factory());
    private final HitRateHistory history = new HitRateHistory();
    private final long startedMillis;

    // used by the thread of the executor only
    private long nextTablesMillis;

    private volatile ClusterSample latest = ClusterSample.NONE;
    private volatile TablesSample tables = TablesSample.NONE;

    /**
     * @param http a client for the hosts
     * @param onRefusal called if a host does not accept the secret, before the next sample
     * @param onProblem called with a sentence if a sample fails
     * @param clockMillis milliseconds since the Unix epoch
     */
    public ClusterMonitor(List<WorkerHost> hosts, WorkerHosts http, Runnable onRefusal, Consumer<String> onProblem, Duration interval, LongSupplier clockMillis)
    {
        this.hosts = List.copyOf(hosts);
        this.http = requireNonNull(http, "http is null");
        this.onRefusal = requireNonNull(onRefusal, "onRefusal is null");
        this.onProblem = requireNonNull(onProblem, "onProblem is null");
        this.interval = requireNonNull(interval, "interval is null");
        this.clockMillis = requireNonNull(clockMillis, "clockMillis is null");
        startedMillis = clockMillis.getAsLong();
        nextTablesMillis = startedMillis;
    }

    /**
     * Begins to read the state.
     */
    public void start()
    {
        executor.scheduleWithFixedDelay(this::sampleOrReport, 0, interval.toMillis(), MILLISECONDS);
    }

    private void sampleOrReport()
    {
        try {
            sample();
        }
        catch (RuntimeException e) {
            // the page shows that its values are old
            onProblem.accept("The state of the cache workers could not be read, and is read again in %s ms: %s".formatted(interval.toMillis(), e));
        }
    }

    /**
     * Reads the state once.
     */
    void sample()
    {
        List<WorkerState> workers = new ArrayList<>();
        Map<WorkerHost, List<Account>> accounts = new LinkedHashMap<>();
        boolean refused = false;
        for (int from = 0; from < hosts.size(); from += BATCH) {
            List<HostAnswer> statuses = ask(hosts.subList(from, Math.min(from + BATCH, hosts.size())), "/v1/status");
            List<WorkerHost> reachable = statuses.stream().filter(Answered.class::isInstance).map(HostAnswer::host).toList();
            List<HostAnswer> stats = ask(reachable, "/v1/stats");
            int index = 0;
            for (HostAnswer status : statuses) {
                switch (status) {
                    case Failed failed -> {
                        workers.add(WorkerState.unreachable(failed));
                        refused |= failed.refused();
                    }
                    case Answered answered -> {
                        HostAnswer counters = stats.get(index);
                        index++;
                        WorkerState worker = WorkerState.of(answered, counters);
                        workers.add(worker);
                        accounts.put(answered.host(), worker.accounts());
                        refused |= counters instanceof Failed failed && failed.refused();
                    }
                }
            }
        }
        long now = clockMillis.getAsLong();
        history.add(now, workers);
        latest = new ClusterSample(now, workers);
        if (now >= nextTablesMillis) {
            tables = TablesSample.collect(http, accounts);
            long end = clockMillis.getAsLong();
            nextTablesMillis = end + Math.max(TABLES_PAUSE.toMillis(), TABLES_PAUSE_FACTOR * (end - now));
        }
        if (refused) {
            onRefusal.run();
        }
    }

    private List<HostAnswer> ask(List<WorkerHost> asked, String path)
    {
        Map<WorkerHost, String> paths = new LinkedHashMap<>();
        asked.forEach(host -> paths.put(host, path));
        return http.ask(paths);
    }

    /**
     * Returns the contents of the page.
     */
    public JsonNode data()
    {
        ClusterSample sample = latest;
        ObjectNode data = JsonNodeFactory.instance.objectNode();
        data.put("interval_millis", interval.toMillis());
        data.put("started_millis", startedMillis);
        data.put("hosts", hosts.size());
        data.put("sampled", sample.timeMillis().isPresent());
        sample.timeMillis().ifPresent(time -> {
            data.put("time_millis", time);
            // by the clock of this machine: the one of the browser may be another one
            data.put("age_millis", Math.max(0, clockMillis.getAsLong() - time));
        });
        sample.describe(data);
        tables.describe(data.putObject("tables"));
        history.describe(data.putArray("history"));
        return data;
    }

    @Override
    public void close()
    {
        executor.shutdownNow();
    }
}
