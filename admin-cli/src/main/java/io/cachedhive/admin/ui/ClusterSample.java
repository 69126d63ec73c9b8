package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CounterNames;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;
import static java.util.function.Function.identity;
import static java.util.stream.Collectors.toMap;

/**
 * What all cache workers reported at one time.
 *
 * @param timeMillis in milliseconds since the Unix epoch; absent before the first sample
 * @param workers one for each host, in the order of the hosts
 */
record ClusterSample(OptionalLong timeMillis, List<WorkerState> workers)
{
    static final ClusterSample NONE = new ClusterSample(OptionalLong.empty(), List.of());

    private static final List<String> SOURCES = List.of(
            CounterNames.RAM_HIT_BYTES,
            CounterNames.SSD_HIT_BYTES,
            CounterNames.NON_LOCAL_HIT_BYTES,
            CounterNames.REMOTE_READ_BYTES,
            CounterNames.BYPASS_BYTES);
    private static final List<String> TIERS = List.of(
            CounterNames.RAM_USED_BYTES,
            CounterNames.RAM_CAPACITY_BYTES,
            CounterNames.SSD_USED_BYTES,
            CounterNames.SSD_CAPACITY_BYTES);
    private static final List<String> ORIGIN_METRICS = List.of(
            CounterNames.ORIGIN_GETS,
            CounterNames.ORIGIN_HEADS,
            CounterNames.ORIGIN_BYTES,
            CounterNames.EXTRA_BYTES,
            CounterNames.ORIGIN_ERRORS,
            CounterNames.ORIGIN_THROTTLED,
            CounterNames.ORIGIN_RETRIES);
    private static final List<String> DISK_METRICS = List.of(
            CounterNames.SSD_DIRECTORIES_OFFLINE,
            CounterNames.SSD_ERRORS_IO_ERROR,
            CounterNames.SSD_ERRORS_NO_SPACE,
            CounterNames.SSD_ERRORS_READ_ONLY,
            CounterNames.SSD_ERRORS_SLOW,
            CounterNames.SSD_ERRORS_OTHER,
            CounterNames.CORRUPT_BLOCKS,
            CounterNames.SSD_WRITES_REJECTED_OFFLINE,
            CounterNames.SSD_WRITES_REJECTED_NO_SPACE,
            CounterNames.SSD_WRITES_REJECTED_QUEUE_FULL,
            CounterNames.SSD_WRITES_REJECTED_NOT_ADMITTED);
    private static final Map<String, CacheMetric> METRICS = CacheMetric.ALL.stream().collect(toMap(CacheMetric::name, identity()));

    ClusterSample
    {
        requireNonNull(timeMillis, "timeMillis is null");
        workers = List.copyOf(workers);
    }

    ClusterSample(long timeMillis, List<WorkerState> workers)
    {
        this(OptionalLong.of(timeMillis), workers);
    }

    /**
     * Adds what the page shows of the sample.
     */
    void describe(ObjectNode data)
    {
        data.put("running", workers.stream().filter(worker -> worker.state().equals(WorkerState.RUNNING)).count());
        workers.stream().flatMapToLong(worker -> worker.sinceMillis().stream()).min().ifPresent(since -> data.put("since_millis", since));
        describeProblems(data.putArray("problems"));
        ArrayNode list = data.putArray("workers");
        workers.forEach(worker -> describe(worker, list.addObject()));
        ArrayNode versions = data.putArray("versions");
        hostsBy(worker -> worker.version().stream().toList(), new TreeMap<>()).forEach((version, hosts) -> {
            ObjectNode line = versions.addObject();
            line.put("version", version);
            hosts.forEach(line.putArray("hosts")::add);
        });
        ObjectNode bytes = data.putObject("bytes");
        SOURCES.forEach(source -> bytes.put(source, sum(source)));
        data.put("hit_bytes", workers.stream().mapToLong(WorkerState::hitBytes).sum());

        ArrayNode saved = data.putArray("object_store");
        addMetric(
                saved,
                "saved_requests",
                "Reads with bytes from the cache, each of which saved a request",
                sum(CounterNames.RAM_HIT_REQUESTS) + sum(CounterNames.SSD_HIT_REQUESTS) + sum(CounterNames.NON_LOCAL_HIT_REQUESTS));
        addMetric(saved, "saved_bytes", "Bytes served by the cache instead of the object store", workers.stream().mapToLong(WorkerState::hitBytes).sum());
        addMetric(saved, "bypass_requests", METRICS.get(CounterNames.BYPASS_REQUESTS).description(), sum(CounterNames.BYPASS_REQUESTS));
        ORIGIN_METRICS.forEach(name -> addMetric(saved, name, METRICS.get(name).description(), sum(name)));

        ArrayNode disks = data.putArray("disks");
        for (String name : DISK_METRICS) {
            ObjectNode line = addMetric(disks, name, METRICS.get(name).description(), sum(name));
            // these blocks are requested too rarely for the SSD tier, which is its purpose
            line.put("normal", name.equals(CounterNames.SSD_WRITES_REJECTED_NOT_ADMITTED));
            ArrayNode hosts = line.putArray("hosts");
            workers.stream().filter(worker -> worker.number(name) > 0).forEach(worker -> hosts.addObject().put("host", worker.host()).put("value", worker.number(name)));
        }
    }

    /**
     * The same problem of several hosts is one.
     */
    private void describeProblems(ArrayNode problems)
    {
        hostsBy(WorkerState::problems, new LinkedHashMap<>()).forEach((problem, hosts) -> {
            ObjectNode line = problems.addObject();
            line.put("problem", problem);
            hosts.forEach(line.putArray("hosts")::add);
        });
    }

    private Map<String, List<String>> hostsBy(Function<WorkerState, List<String>> values, Map<String, List<String>> hosts)
    {
        workers.forEach(worker -> values.apply(worker).forEach(value -> hosts.computeIfAbsent(value, _ -> new ArrayList<>()).add(worker.host())));
        return hosts;
    }

    private static void describe(WorkerState worker, ObjectNode line)
    {
        line.put("host", worker.host());
        line.put("state", worker.state());
        line.put("reachable", worker.isReachable());
        worker.worker().ifPresent(id -> line.put("worker", id));
        worker.version().ifPresent(version -> line.put("version", version));
        worker.zone().ifPresent(zone -> line.put("zone", zone));
        worker.uptimeMillis().ifPresent(uptime -> line.put("uptime_millis", uptime));
        if (worker.isReachable()) {
            TIERS.forEach(name -> line.put(name, worker.number(name)));
        }
        if (worker.isCounted()) {
            line.put("hit_bytes", worker.hitBytes());
            line.put("remote_bytes", worker.remoteBytes());
            line.put("bypass_bytes", worker.bypassBytes());
        }
    }

    private long sum(String name)
    {
        return workers.stream().mapToLong(worker -> worker.number(name)).sum();
    }

    private static ObjectNode addMetric(ArrayNode list, String name, String description, long value)
    {
        return list.addObject().put("name", name).put("description", description).put("value", value);
    }
}
