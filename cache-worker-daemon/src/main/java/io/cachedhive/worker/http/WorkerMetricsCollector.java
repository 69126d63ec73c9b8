package io.cachedhive.worker.http;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.inject.Inject;
import io.airlift.metrics.MetricsCollector;
import io.airlift.openmetrics.OpenMetricsCollector;
import io.airlift.openmetrics.types.Counter;
import io.airlift.openmetrics.types.Gauge;
import io.airlift.openmetrics.types.Metric;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.worker.status.WorkerStatus;

import java.util.List;
import java.util.Map;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * Collects the metrics of {@code /metrics}: those of the process, its version and state, and all metrics of the cache worker, with names by Prometheus'
 * conventions. The beans of libraries, which have other names, are left to JMX.
 */
public final class WorkerMetricsCollector
        extends OpenMetricsCollector
{
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
        ImmutableList.Builder<Metric> collected = ImmutableList.builder();
        collected.addAll(ProcessMetrics.collect());
        Pong pong = metrics.pong();
        collected.add(new Gauge(MetricName.PREFIX + "build_info", 1, Map.of("version", pong.version()), "Version of the cache worker; the value is 1"));
        for (String state : WorkerStatus.STATES) {
            collected.add(new Gauge(MetricName.PREFIX + "state", state.equals(pong.state()) ? 1 : 0, Map.of("state", state), "1 for the current state of the cache worker"));
        }
        WorkerMetrics.Snapshot snapshot = metrics.snapshot();
        snapshot.values().forEach((metric, value) -> collected.add(openMetric(metric, value)));
        snapshot.bypassBytesByCause().forEach((cause, bytes) -> collected.add(
                new Counter(MetricName.PREFIX + "bypass_bytes_total", bytes, Map.of("cause", cause), "Bytes read from the origin, bypassing the cache, by cause")));
        return collected.build();
    }

    @Override
    public List<Metric> collect(List<String> names)
    {
        if (names.isEmpty()) {
            return collect();
        }
        Set<String> requested = ImmutableSet.copyOf(names);
        return collect().stream().filter(metric -> requested.contains(metric.metricName())).toList();
    }

    private static Metric openMetric(CacheMetric metric, long value)
    {
        MetricName name = MetricName.of(metric);
        return switch (metric.type()) {
            case COUNTER -> new Counter(name.name(), value, name.labels(), name.help());
            case GAUGE -> new Gauge(name.name(), value, name.labels(), name.help());
        };
    }
}
