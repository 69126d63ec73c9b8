package io.cachedhive.admin.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * What the hosts file says.
 *
 * @param file where it was read
 * @param name {@code node.environment} of the cache workers
 * @param secretFile with the shared secret
 * @param configurationDirectory on this machine: {@code catalog/*.properties} and {@code origins/*.properties} for the hosts
 * @param tls of the cache workers and of Trino
 * @param trinoUrl of the coordinator, for commands that run SQL
 * @param trinoPasswordFile with the password of the user
 * @param trinoAccessTokenFile with a JSON web token of the user
 */
public record Cluster(
        Path file,
        String name,
        List<ClusterHost> hosts,
        SshSettings ssh,
        Optional<Path> secretFile,
        Path configurationDirectory,
        TlsSettings tls,
        Optional<String> trinoUrl,
        String trinoUser,
        Optional<Path> trinoPasswordFile,
        Optional<Path> trinoAccessTokenFile)
{
    /**
     * @param configFile in place of {@code ~/.ssh/config}
     * @param parallel hosts at a time
     * @param commandTimeout of one step on one host
     */
    public record SshSettings(Optional<Path> configFile, int parallel, Duration connectTimeout, Duration commandTimeout) {}

    public Cluster
    {
        requireNonNull(file, "file is null");
        hosts = List.copyOf(hosts);
    }

    public List<ClusterHost> workers()
    {
        return hosts.stream().filter(ClusterHost::isWorker).toList();
    }

    /// The hosts that are named, or are in a group that is named, in the order of the file; all if nothing is named.
    ///
    /// @throws IllegalArgumentException if a name is neither
    public List<ClusterHost> select(Set<String> namesAndGroups)
    {
        if (namesAndGroups.isEmpty()) {
            return hosts;
        }
        Set<ClusterHost> selected = new LinkedHashSet<>();
        for (String wanted : namesAndGroups) {
            List<ClusterHost> found = hosts.stream().filter(host -> host.name().equals(wanted) || host.groups().contains(wanted)).toList();
            if (found.isEmpty()) {
                throw new IllegalArgumentException("%s is neither a host nor a group of %s: it has the hosts %s".formatted(
                        wanted, file, hosts.stream().map(ClusterHost::name).collect(joining(", "))));
            }
            selected.addAll(found);
        }
        List<ClusterHost> ordered = new ArrayList<>(hosts);
        ordered.retainAll(selected);
        return ordered;
    }
}
