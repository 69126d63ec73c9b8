package io.cachedhive.worker.http;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.inject.Inject;
import io.airlift.metrics.MetricsCollector;
import io.airlift.openmetrics.OpenMetricsCollector;
import io.airlift.openmetrics.types.Counter;
import io.airlift.openmetrics.types.Gauge;
import io.airlift.openmetrics.types.Metric;
import io.cachedhive.protocol.wire.CacheMetric;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import static java.util.Objects.requireNonNull;

/**
 * Collects the metrics of {@code /metrics}: those of the JVM and the HTTP server, and all metrics of the cache worker
 * with their types and descriptions.
 */
public final class WorkerMetricsCollector
        extends OpenMetricsCollector
{
    static final String PREFIX = "cachedhive_";

    private final WorkerMetrics metrics;

    @Inject
    public WorkerMetricsCollector(MetricsCollector collector, WorkerMetrics metrics)
    {
        super(collector);
        this.metrics = requireNonNull(metrics, "metrics is null");
    }

    @Override
    public List<Metric> collect()
    {
        return Stream.concat(super.collect().stream(), cacheMetrics()).toList();
    }

    @Override
    public List<Metric> collect(List<String> names)
    {
        if (names.isEmpty()) {
            return collect();
        }
        Set<String> requested = ImmutableSet.copyOf(names);
        return ImmutableList.<Metric>builder()
                .addAll(super.collect(names))
                .addAll(cacheMetrics().filter(metric -> requested.contains(metric.metricName())).iterator())
                .build();
    }

    private Stream<Metric> cacheMetrics()
    {
        return metrics.values().entrySet().stream().map(entry -> openMetric(entry.getKey(), entry.getValue()));
    }

    private static Metric openMetric(CacheMetric metric, long value)
    {
        Map<String, String> labels = ImmutableMap.of();
        return switch (metric.type()) {
            case COUNTER -> new Counter(PREFIX + metric.name(), value, labels, metric.description());
            case GAUGE -> new Gauge(PREFIX + metric.name(), value, labels, metric.description());
        };
    }
}
