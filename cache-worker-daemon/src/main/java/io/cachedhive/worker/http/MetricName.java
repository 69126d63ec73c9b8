package io.cachedhive.worker.http;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.protocol.wire.CacheMetric;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.util.Objects.requireNonNull;

/**
 * The name of a metric by Prometheus' conventions: counters end in {@code _total} after the unit, and metrics that differ in one property, whose sum has a
 * meaning, are one metric with a label.
 *
 * @see <a href="https://prometheus.io/docs/practices/naming/">Metric and label naming</a>
 */
record MetricName(String name, Map<String, String> labels, String help)
{
    static final String PREFIX = "cachedhive_";

    private static final String SOURCES = "(ram_hit|ssd_hit|non_local_hit|remote_read|bypass)";
    private static final List<Family> FAMILIES = List.of(
            new Family(SOURCES + "_bytes", "read_bytes", "source", MetricName::source, "Bytes read by queries"),
            new Family(SOURCES + "_requests", "read_requests", "source", MetricName::source, "Reads with bytes from this source; a read with several sources counts for each"),
            new Family("(ram|ssd)_evictions", "evictions", "tier", UnaryOperator.identity(), "Blocks evicted from a tier"),
            new Family("ssd_errors_(.+)", "ssd_errors", "cause", UnaryOperator.identity(), "SSD operations that failed or took longer than a read from the origin"),
            new Family("ssd_writes_rejected_(.+)", "ssd_writes_rejected", "cause", UnaryOperator.identity(), "Blocks kept in RAM only"),
            new Family("overloaded_(.+)", "overloaded_blocks", "resource", UnaryOperator.identity(), "Block reads rejected because a resource was exhausted"),
            new Family("origin_(get|head)s", "origin_requests", "method", method -> method.toUpperCase(Locale.ROOT), "Requests to origins"),
            new Family(
                    "sizing_hit_bytes_at_(\\d+)_percent",
                    "sizing_hit_bytes",
                    "capacity_multiple",
                    MetricName::multiple,
                    "Predicted hits in bytes with a multiple of the current capacity"),
            new Family("handover_bytes_received()", "handover_received_bytes", "", UnaryOperator.identity(), "Bytes of blocks received from former owners"));

    MetricName
    {
        requireNonNull(name, "name is null");
        labels = ImmutableMap.copyOf(labels);
        requireNonNull(help, "help is null");
    }

    /**
     * @param label of the first group of the pattern; empty for none
     */
    private record Family(Pattern pattern, String name, String label, UnaryOperator<String> value, String help)
    {
        Family(String pattern, String name, String label, UnaryOperator<String> value, String help)
        {
            this(Pattern.compile(pattern), name, label, value, help);
        }
    }

    static MetricName of(CacheMetric metric)
    {
        String suffix = switch (metric.type()) {
            case COUNTER -> "_total";
            case GAUGE -> "";
        };
        for (Family family : FAMILIES) {
            Matcher matcher = family.pattern().matcher(metric.name());
            if (matcher.matches()) {
                Map<String, String> labels = family.label().isEmpty() ? Map.of() : Map.of(family.label(), family.value().apply(matcher.group(1)));
                return new MetricName(PREFIX + family.name() + suffix, labels, family.help());
            }
        }
        return new MetricName(PREFIX + metric.name() + suffix, Map.of(), metric.description());
    }

    private static String source(String source)
    {
        return source.replaceFirst("_(hit|read)$", "");
    }

    private static String multiple(String percent)
    {
        int value = Integer.parseInt(percent);
        return value % 100 == 0 ? Integer.toString(value / 100) : Double.toString(value / 100.0);
    }
}
