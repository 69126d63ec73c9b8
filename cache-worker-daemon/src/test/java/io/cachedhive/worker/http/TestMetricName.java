package io.cachedhive.worker.http;

import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CounterNames;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

class TestMetricName
{
    // of promtool check metrics: units that are not base units, or abbreviated ones
    private static final Set<String> BAD_WORDS = Set.of(
            "percent", "milliseconds", "millis", "nanos", "minutes", "hours", "kilobytes", "megabytes", "gigabytes", "bits", "s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb");

    @Test
    void testLabels()
    {
        assertThat(nameOf(CounterNames.NON_LOCAL_HIT_BYTES)).isEqualTo("cachedhive_read_bytes_total{source=non_local}");
        assertThat(nameOf(CounterNames.REMOTE_READ_REQUESTS)).isEqualTo("cachedhive_read_requests_total{source=remote}");
        assertThat(nameOf(CounterNames.BYPASS_BYTES)).isEqualTo("cachedhive_read_bytes_total{source=bypass}");
        assertThat(nameOf(CounterNames.ORIGIN_HEADS)).isEqualTo("cachedhive_origin_requests_total{method=HEAD}");
        assertThat(nameOf(CounterNames.SSD_ERRORS_NO_SPACE)).isEqualTo("cachedhive_ssd_errors_total{cause=no_space}");
        assertThat(nameOf(CounterNames.RAM_EVICTIONS)).isEqualTo("cachedhive_evictions_total{tier=ram}");
        assertThat(nameOf(CounterNames.sizingHitBytes(25))).isEqualTo("cachedhive_sizing_hit_bytes{capacity_multiple=0.25}");
        assertThat(nameOf(CounterNames.sizingHitBytes(1600))).isEqualTo("cachedhive_sizing_hit_bytes{capacity_multiple=16}");
    }

    @Test
    void testWithoutLabels()
    {
        assertThat(nameOf(CounterNames.REQUESTS)).isEqualTo("cachedhive_requests_total{}");
        assertThat(nameOf(CounterNames.REJECTED_REQUESTS)).isEqualTo("cachedhive_rejected_requests_total{}");
        assertThat(nameOf(CounterNames.HANDOVER_BYTES_RECEIVED)).isEqualTo("cachedhive_handover_received_bytes_total{}");
        assertThat(nameOf(CounterNames.RAM_USED_BYTES)).isEqualTo("cachedhive_ram_used_bytes{}");
    }

    @Test
    void testConventions()
    {
        Set<MetricName> names = new HashSet<>();
        for (CacheMetric metric : CacheMetric.ALL) {
            MetricName name = MetricName.of(metric);
            assertThat(names.add(new MetricName(name.name(), name.labels(), ""))).as("%s is the only %s", metric.name(), name).isTrue();
            assertThat(name.name()).matches("cachedhive_[a-z][a-z0-9_]*[a-z]").doesNotEndWith("_count").doesNotEndWith("_sum").doesNotEndWith("_bucket");
            assertThat(name.name().split("_")).doesNotContainAnyElementsOf(BAD_WORDS);
            assertThat(name.name().endsWith("_total")).as(name.name()).isEqualTo(metric.type() == CacheMetric.Type.COUNTER);
            assertThat(name.help()).isNotBlank();
            if (name.name().contains("bytes")) {
                assertThat(name.name()).matches(".*_bytes(_total)?");
            }
        }
        // metrics of one name have one type, the same labels, and one description
        Map<String, Set<Object>> families = CacheMetric.ALL.stream()
                .map(metric -> Map.entry(MetricName.of(metric).name(), Set.of(metric.type(), MetricName.of(metric).labels().keySet(), MetricName.of(metric).help())))
                .collect(Collectors.groupingBy(Map.Entry::getKey, Collectors.mapping(Map.Entry::getValue, Collectors.toSet())));
        assertThat(families).allSatisfy((_, kinds) -> assertThat(kinds).hasSize(1));
    }

    private static String nameOf(String counter)
    {
        MetricName name = MetricName.of(CacheMetric.ALL.stream().filter(metric -> metric.name().equals(counter)).findFirst().orElseThrow());
        return name.name() + name.labels();
    }
}
