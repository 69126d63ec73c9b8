package io.cachedhive.admin.task;

import io.cachedhive.admin.cluster.ClusterHost;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What came of a task on one host.
 *
 * @param notes what was changed or found, a line each
 * @param values further columns, by name
 * @param problem present if the task failed: one sentence with its remedy
 */
public record HostOutcome(ClusterHost host, List<String> notes, Map<String, String> values, Optional<String> problem)
{
    public HostOutcome
    {
        requireNonNull(host, "host is null");
        notes = List.copyOf(notes);
        values = Map.copyOf(values);
        requireNonNull(problem, "problem is null");
    }

    public static HostOutcome done(ClusterHost host, List<String> notes)
    {
        return new HostOutcome(host, notes, Map.of(), Optional.empty());
    }

    public static HostOutcome failed(ClusterHost host, String problem)
    {
        return new HostOutcome(host, List.of(), Map.of(), Optional.of(problem));
    }
}
