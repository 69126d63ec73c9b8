package io.cachedhive.plugin.counters;

import com.google.inject.Inject;
import io.airlift.log.Logger;
import io.cachedhive.plugin.mode.CacheDecisions;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;

import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * Requests the counters of all cache workers once a minute, for the hit rates of the last minutes and hours.
 */
public final class HitRateSampler
{
    private static final Logger log = Logger.get(HitRateSampler.class);

    private final WorkerReports reports;
    private final HitRateHistory history = new HitRateHistory(System::nanoTime);
    private final ScheduledExecutorService executor;

    @Inject
    HitRateSampler(WorkerReports reports, CacheDecisions decisions)
    {
        this.reports = requireNonNull(reports, "reports is null");
        this.executor = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("cachedhive-hit-rate-" + decisions.catalog()).daemon().factory());
    }

    @PostConstruct
    public void start()
    {
        executor.scheduleWithFixedDelay(this::sample, 0, HitRateHistory.SAMPLE_INTERVAL.toMillis(), MILLISECONDS);
    }

    @PreDestroy
    public void close()
    {
        executor.shutdownNow();
    }

    private void sample()
    {
        // an exception would end the schedule
        try {
            request();
        }
        catch (RuntimeException | Error e) {
            if (!executor.isShutdown()) {
                log.error(e, "Cannot sample the counters of the cache workers");
            }
        }
    }

    /**
     * Requests the counters of all cache workers now.
     */
    public List<WorkerReport> request()
    {
        List<WorkerReport> current = reports.ask();
        history.add(current);
        return current;
    }

    public HitRateHistory history()
    {
        return history;
    }
}
