package io.cachedhive.worker.http;

import com.google.common.collect.ImmutableMap;
import com.google.inject.Inject;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CacheMetric.Scope;
import io.cachedhive.worker.service.CacheWorkerService;

import java.util.Map;

import static java.util.Objects.requireNonNull;

/**
 * The current values of all metrics: the cache worker's own, and totals of the counters that clients report per table.
 */
public final class WorkerMetrics
{
    private final CacheWorkerService worker;

    @Inject
    public WorkerMetrics(CacheWorkerService worker)
    {
        this.worker = requireNonNull(worker, "worker is null");
    }

    /**
     * Returns the value of each metric of {@link CacheMetric#ALL}, read at about the same time. Optional metrics
     * without a value are absent.
     */
    public Map<CacheMetric, Long> values()
    {
        Map<String, Long> gauges = worker.status().gauges();
        Map<String, Long> totals = worker.usage().totals();
        ImmutableMap.Builder<CacheMetric, Long> values = ImmutableMap.builder();
        for (CacheMetric metric : CacheMetric.ALL) {
            if (metric.optional() && !gauges.containsKey(metric.name())) {
                continue;
            }
            values.put(metric, metric.scope() == Scope.TABLE ? totals.getOrDefault(metric.name(), 0L) : gauges.getOrDefault(metric.name(), 0L));
        }
        return values.buildOrThrow();
    }
}
