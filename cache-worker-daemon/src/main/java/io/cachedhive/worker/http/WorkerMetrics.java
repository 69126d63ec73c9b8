package io.cachedhive.worker.http;

import com.google.common.collect.ImmutableMap;
import com.google.inject.Inject;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CacheMetric.Scope;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
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
     * Metrics that were read at about the same time.
     *
     * @param values of {@link CacheMetric#ALL}; optional metrics without a value are absent
     * @param bypassBytesByCause causes that never occurred are absent
     */
    public record Snapshot(Map<CacheMetric, Long> values, Map<String, Long> bypassBytesByCause)
    {
        public Snapshot
        {
            values = ImmutableMap.copyOf(values);
            bypassBytesByCause = ImmutableMap.copyOf(bypassBytesByCause);
        }
    }

    public Pong pong()
    {
        return worker.status().pong();
    }

    public Snapshot snapshot()
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
        ImmutableMap.Builder<String, Long> causes = ImmutableMap.builder();
        totals.forEach((name, bytes) -> {
            if (name.startsWith(CounterNames.BYPASS_BYTES_PREFIX) && bytes > 0) {
                causes.put(name.substring(CounterNames.BYPASS_BYTES_PREFIX.length()), bytes);
            }
        });
        return new Snapshot(values.buildOrThrow(), causes.buildOrThrow());
    }
}
