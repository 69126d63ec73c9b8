package io.cachedhive.admin.doctor;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.install.HostFacts;
import io.cachedhive.admin.settings.HostFile;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What is known of one host.
 *
 * @param facts by ssh; empty if that failed, and then {@code unreachable} says why
 * @param status of its cache worker's HTTP API, as this machine sees it
 * @param statusProblem why there is no status
 * @param wanted files that it is to have
 */
public record HostState(
        ClusterHost host,
        Optional<HostFacts> facts,
        Optional<String> unreachable,
        Optional<JsonNode> status,
        Optional<String> statusProblem,
        List<HostFile> wanted)
{
    public HostState
    {
        requireNonNull(host, "host is null");
        wanted = List.copyOf(wanted);
    }
}
