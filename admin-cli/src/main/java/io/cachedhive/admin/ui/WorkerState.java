package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.host.HostAnswer;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.worker.WorkerFields;
import io.cachedhive.protocol.wire.CacheMetric;
import io.cachedhive.protocol.wire.CounterNames;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import static java.util.Objects.requireNonNull;

/**
 * What one cache worker reported in a sample.
 *
 * @param state of the cache worker, or {@link #UNREACHABLE}
 * @param problems with their remedies
 * @param sinceMillis when its counters started; absent if it reported no counters
 * @param numbers counters and gauges by name
 */
record WorkerState(
        String host,
        String state,
        Optional<String> worker,
        Optional<String> version,
        Optional<String> zone,
        OptionalLong uptimeMillis,
        List<String> problems,
        OptionalLong sinceMillis,
        Map<String, Long> numbers,
        List<Account> accounts)
{
    static final String RUNNING = "RUNNING";
    static final String UNREACHABLE = "UNREACHABLE";

    /**
     * A catalog of a Trino cluster, for which cache workers count.
     */
    record Account(String cluster, String catalog)
    {
        Account
        {
            requireNonNull(cluster, "cluster is null");
            requireNonNull(catalog, "catalog is null");
        }
    }

    WorkerState
    {
        requireNonNull(host, "host is null");
        requireNonNull(state, "state is null");
        requireNonNull(worker, "worker is null");
        requireNonNull(version, "version is null");
        requireNonNull(zone, "zone is null");
        requireNonNull(uptimeMillis, "uptimeMillis is null");
        problems = List.copyOf(problems);
        requireNonNull(sinceMillis, "sinceMillis is null");
        numbers = Map.copyOf(numbers);
        accounts = List.copyOf(accounts);
    }

    static WorkerState unreachable(Failed failed)
    {
        return new WorkerState(
                failed.host().toString(),
                UNREACHABLE,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                OptionalLong.empty(),
                List.of(failed.problem()),
                OptionalLong.empty(),
                Map.of(),
                List.of());
    }

    /**
     * Reads the answers to {@code /v1/status} and {@code /v1/stats}.
     */
    static WorkerState of(Answered status, HostAnswer stats)
    {
        WorkerFields fields = WorkerFields.of(status.content());
        Set<String> problems = new LinkedHashSet<>();
        fields.text("problem").ifPresent(problems::add);
        for (JsonNode origin : status.content().path("origins")) {
            WorkerFields.of(origin).text("problem").ifPresent(problems::add);
        }
        Map<String, Long> numbers = new HashMap<>();
        addNumbers(fields, numbers);
        OptionalLong since = OptionalLong.empty();
        List<Account> accounts = new ArrayList<>();
        switch (stats) {
            case Answered answered -> {
                WorkerFields counted = WorkerFields.of(answered.content());
                since = counted.number("since_millis");
                addNumbers(counted, numbers);
                for (JsonNode catalog : answered.content().path("catalogs")) {
                    accounts.add(new Account(catalog.path("cluster").asText(), catalog.path("catalog").asText()));
                }
            }
            case Failed failed -> problems.add(failed.problem());
        }
        return new WorkerState(
                status.host().toString(),
                fields.text("state").orElse("UNKNOWN"),
                fields.text("worker"),
                fields.text("version"),
                fields.text("zone"),
                fields.number("uptime_millis"),
                List.copyOf(problems),
                since,
                numbers,
                accounts);
    }

    private static void addNumbers(WorkerFields fields, Map<String, Long> numbers)
    {
        for (CacheMetric metric : CacheMetric.ALL) {
            fields.number(metric.name()).ifPresent(value -> numbers.put(metric.name(), value));
        }
    }

    boolean isReachable()
    {
        return !state.equals(UNREACHABLE);
    }

    /**
     * Returns whether the cache worker reported counters.
     */
    boolean isCounted()
    {
        return sinceMillis.isPresent();
    }

    /**
     * Returns a counter or gauge, or 0 if the cache worker has not counted it yet.
     */
    long number(String name)
    {
        return numbers.getOrDefault(name, 0L);
    }

    long hitBytes()
    {
        return number(CounterNames.RAM_HIT_BYTES) + number(CounterNames.SSD_HIT_BYTES) + number(CounterNames.NON_LOCAL_HIT_BYTES);
    }

    long remoteBytes()
    {
        return number(CounterNames.REMOTE_READ_BYTES);
    }

    long bypassBytes()
    {
        return number(CounterNames.BYPASS_BYTES);
    }

    /**
     * Returns whether a counter is smaller than in an earlier sample.
     */
    boolean isBelow(WorkerState earlier)
    {
        return hitBytes() < earlier.hitBytes() || remoteBytes() < earlier.remoteBytes() || bypassBytes() < earlier.bypassBytes();
    }
}
