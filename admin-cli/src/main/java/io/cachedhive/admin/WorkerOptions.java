package io.cachedhive.admin;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.cluster.TlsSettings;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.SecretFile;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import javax.net.ssl.SSLContext;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;
import static picocli.CommandLine.Spec.Target.MIXEE;

/**
 * Options of the commands that ask cache workers over HTTP: the cache workers, their secret, and the time-out.
 */
class WorkerOptions
{
    @Spec(MIXEE)
    private CommandSpec command;

    @Option(
            names = "--hosts",
            split = ",",
            paramLabel = "HOST[:PORT]|GROUP",
            description = "comma-separated hosts: hosts and groups of the hosts file, or any other hosts, with https:// in front if they "
                    + "require it; the port is the cache worker's http-server.http.port or http-server.https.port (default: 8485)")
    private Set<String> names = new LinkedHashSet<>();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "hosts file (default: the value of CACHE_ADMIN_CONFIG, or ~/.cache-admin.yaml)")
    private Path config;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            defaultValue = "5s",
            description = "time-out for each host, such as 500ms or 10s (default: ${DEFAULT-VALUE})")
    private Duration timeout = Duration.ofSeconds(5);

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "file with the cache workers' internal-communication.shared-secret, where they have one (default: with the hosts file, its "
                    + "secret-file); it is proven and never sent")
    private Path secretFile;

    /**
     * The hosts to ask.
     *
     * @param secrets by host, in their order; a host of which nothing is known has none
     */
    record Selection(Map<WorkerHost, Optional<String>> secrets, SSLContext tls)
    {
        Selection
        {
            secrets = Collections.unmodifiableMap(new LinkedHashMap<>(secrets));
            requireNonNull(tls, "tls is null");
        }

        List<WorkerHost> hosts()
        {
            return List.copyOf(secrets.keySet());
        }
    }

    /**
     * Reads the hosts file and the secret files.
     *
     * @throws ClusterFileException if one of them is needed and cannot be used
     */
    final Selection select(Console console)
            throws ClusterFileException
    {
        Optional<String> secret = secretFile == null ? Optional.empty() : Optional.of(SecretFile.read(secretFile).preferred());
        Optional<Cluster> cluster = cluster(console);
        return new Selection(hosts(cluster, secret), cluster.map(Cluster::tls).orElse(TlsSettings.DEFAULT).context());
    }

    /**
     * Returns a client for some of the hosts.
     */
    final WorkerHosts workers(List<WorkerHost> hosts, Function<WorkerHost, Optional<String>> secrets, SSLContext tls)
    {
        return new WorkerHosts(hosts, timeout, secrets, tls);
    }

    /// Those to be asked, each with its secret: that of the hosts file is nothing to hosts that this does not know.
    ///
    /// @param given by an option, for all
    private Map<WorkerHost, Optional<String>> hosts(Optional<Cluster> cluster, Optional<String> given)
            throws ClusterFileException
    {
        Map<WorkerHost, Optional<String>> hosts = new LinkedHashMap<>();
        List<ClusterHost> workers = cluster.map(Cluster::workers).orElse(List.of());
        Set<WorkerHost> known = new LinkedHashSet<>();
        if (names.isEmpty()) {
            workers.forEach(worker -> known.add(worker.http()));
            known.forEach(host -> hosts.put(host, given));
        }
        for (String name : names) {
            List<WorkerHost> found = workers.stream().filter(worker -> worker.name().equals(name) || worker.groups().contains(name)).map(ClusterHost::http).toList();
            known.addAll(found);
            found.forEach(host -> hosts.put(host, given));
            if (found.isEmpty()) {
                WorkerHost other = parse(name);
                // of a host that is known, another port
                Optional<WorkerHost> named = workers.stream().filter(worker -> worker.name().equals(other.name())).map(worker -> worker.http(other.port())).findFirst();
                hosts.put(named.orElse(other), given);
                named.ifPresent(known::add);
                workers.stream().map(ClusterHost::http).filter(other::equals).forEach(known::add);
            }
        }
        if (given.isEmpty() && !known.isEmpty()) {
            Optional<String> secret = HostFiles.readSecret(cluster.orElseThrow());
            known.forEach(host -> hosts.put(host, secret));
        }
        return hosts;
    }

    private Optional<Cluster> cluster(Console console)
            throws ClusterFileException
    {
        if (names.isEmpty()) {
            return Optional.of(ClusterOptions.read(config));
        }
        if (Files.notExists(ClusterOptions.locate(config))) {
            return Optional.empty();
        }
        try {
            return Optional.of(ClusterOptions.read(config));
        }
        catch (ClusterFileException e) {
            if (config != null) {
                throw e;
            }
            // it was not named, and --hosts does not need it: it may be the example, not filled in yet
            console.line("Without a hosts file: " + e.getMessage());
            return Optional.empty();
        }
    }

    private WorkerHost parse(String name)
    {
        try {
            return WorkerHost.parse(name);
        }
        catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), "Invalid value for option '--hosts': " + e.getMessage());
        }
    }
}
