package io.cachedhive.worker.http;

import com.google.common.collect.ImmutableList;
import com.sun.management.UnixOperatingSystemMXBean;
import io.airlift.openmetrics.types.Counter;
import io.airlift.openmetrics.types.Gauge;
import io.airlift.openmetrics.types.Metric;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * Metrics of the process and its JVM, under the names that Prometheus' client libraries give them.
 */
final class ProcessMetrics
{
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESIDENT = "VmRSS:";

    private ProcessMetrics() {}

    static List<Metric> collect()
    {
        ImmutableList.Builder<Metric> metrics = ImmutableList.builder();
        metrics.add(gauge("process_start_time_seconds", ManagementFactory.getRuntimeMXBean().getStartTime() / 1000.0, "Start time of the process, in seconds since 1970"));
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
            metrics.add(counter("process_cpu_seconds_total", TimeUnit.NANOSECONDS.toSeconds(system.getProcessCpuTime()), Map.of(), "CPU time of the process, in full seconds"));
            metrics.add(gauge("process_open_fds", system.getOpenFileDescriptorCount(), "Open file descriptors"));
            metrics.add(gauge("process_max_fds", system.getMaxFileDescriptorCount(), "Maximum number of open file descriptors"));
        }
        residentBytes().ifPresent(bytes -> metrics.add(gauge("process_resident_memory_bytes", bytes, "Resident memory of the process, shared memory of the RAM tier included")));

        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        String used = "Memory of the JVM in use";
        metrics.add(new Gauge("jvm_memory_used_bytes", memory.getHeapMemoryUsage().getUsed(), Map.of("area", "heap"), used));
        metrics.add(new Gauge("jvm_memory_used_bytes", memory.getNonHeapMemoryUsage().getUsed(), Map.of("area", "nonheap"), used));
        metrics.add(new Gauge("jvm_memory_max_bytes", memory.getHeapMemoryUsage().getMax(), Map.of("area", "heap"), "Maximum memory of the JVM"));
        metrics.add(gauge("jvm_threads_current", ManagementFactory.getThreadMXBean().getThreadCount(), "Threads of the JVM"));
        List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
        for (GarbageCollectorMXBean collector : collectors) {
            metrics.add(counter("jvm_gc_collections_total", Math.max(0, collector.getCollectionCount()), Map.of("gc", collector.getName()), "Garbage collections"));
        }
        for (GarbageCollectorMXBean collector : collectors) {
            long seconds = TimeUnit.MILLISECONDS.toSeconds(Math.max(0, collector.getCollectionTime()));
            metrics.add(counter("jvm_gc_collection_seconds_total", seconds, Map.of("gc", collector.getName()), "Time of garbage collections, in full seconds"));
        }
        return metrics.build();
    }

    private static Metric gauge(String name, Number value, String help)
    {
        return Gauge.from(name, value, Map.of(), help);
    }

    private static Metric counter(String name, long value, Map<String, String> labels, String help)
    {
        return new Counter(name, value, labels, help);
    }

    private static OptionalLong residentBytes()
    {
        try {
            return Files.readAllLines(STATUS).stream()
                    .filter(line -> line.startsWith(RESIDENT))
                    .mapToLong(line -> 1024 * Long.parseLong(line.substring(RESIDENT.length()).replace("kB", "").strip()))
                    .findFirst();
        }
        catch (IOException _) {
            // a system that is not Linux
            return OptionalLong.empty();
        }
    }
}
