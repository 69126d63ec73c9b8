package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.cluster.TlsSettings;
import io.cachedhive.admin.host.WorkerHost;
import io.cachedhive.admin.host.WorkerHosts;
import io.cachedhive.admin.settings.HostFiles;
import io.cachedhive.admin.settings.SecretFile;
import io.cachedhive.admin.sql.TrinoClient;
import io.cachedhive.admin.task.TaskException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import javax.net.ssl.SSLContext;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;
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

    @Option(
            names = "--trino-url",
            paramLabel = "URL",
            description = "take the cache workers from this coordinator, such as http://coordinator:8080; --hosts then selects some of them")
    private String trinoUrl;

    @Option(
            names = "--trino-user",
            paramLabel = "NAME",
            description = "with --trino-url, the user that runs the SQL (default: trino-user of the hosts file, else admin)")
    private String trinoUser;

    @Option(
            names = "--catalog",
            paramLabel = "NAME",
            description = "with --trino-url, the catalog whose table cache.nodes has the cache workers (default: all cachedhive catalogs)")
    private String catalog;

    @Option(
            names = "--http-port",
            paramLabel = "N",
            defaultValue = "" + WorkerHost.DEFAULT_PORT,
            description = "with --trino-url, the HTTP port of cache workers that the hosts file does not have (default: ${DEFAULT-VALUE})")
    private int httpPort = WorkerHost.DEFAULT_PORT;

    @Option(names = "--https", description = "with --trino-url, use HTTPS for cache workers that the hosts file does not have")
    private boolean https;

    /**
     * The hosts to ask.
     *
     * @param secrets by host, in their order; a host of which nothing is known has none
     * @param known all cache workers of the cluster, as far as the hosts file or Trino has them
     */
    record Selection(Map<WorkerHost, Optional<String>> secrets, List<WorkerHost> known, SSLContext tls)
    {
        Selection
        {
            secrets = Collections.unmodifiableMap(new LinkedHashMap<>(secrets));
            known = List.copyOf(known);
            requireNonNull(tls, "tls is null");
        }

        List<WorkerHost> hosts()
        {
            return List.copyOf(secrets.keySet());
        }
    }

    /**
     * Reads the hosts file and the secret files, and asks Trino if its address was given.
     *
     * @throws ClusterFileException if one of the files is needed and cannot be used
     * @throws TaskException if Trino does not name the cache workers
     */
    final Selection select(Console console)
            throws ClusterFileException, TaskException
    {
        Optional<String> secret = secretFile == null ? Optional.empty() : Optional.of(SecretFile.read(secretFile).preferred());
        Optional<Cluster> cluster = cluster(console);
        SSLContext tls = cluster.map(Cluster::tls).orElse(TlsSettings.DEFAULT).context();
        List<ClusterHost> workers = cluster.map(Cluster::workers).orElse(List.of());
        if (trinoUrl != null) {
            List<WorkerHost> known = nodes(cluster, workers);
            return new Selection(selected(known, workers, cluster, secret), known, tls);
        }
        return new Selection(hosts(cluster, secret), workers.stream().map(ClusterHost::http).toList(), tls);
    }

    /// The cache workers that Trino has. The table has the port for blocks, and so the port of the HTTP API comes from the hosts file or the option.
    private List<WorkerHost> nodes(Optional<Cluster> cluster, List<ClusterHost> workers)
            throws ClusterFileException, TaskException
    {
        if (httpPort < 1 || httpPort > 65535) {
            throw new WrongUsageException("--http-port is %s: use a port from 1 to 65535.".formatted(httpPort));
        }
        try (TrinoClient client = TrinoOptions.client(trinoUrl, Optional.ofNullable(trinoUser), cluster)) {
            List<String> catalogs = catalog == null ?
                    client.query("SELECT catalog_name FROM system.metadata.catalogs WHERE connector_name = 'cachedhive' ORDER BY catalog_name").stream()
                            .map(row -> row.get("catalog_name").asText())
                            .toList() :
                    List.of(catalog);
            if (catalogs.isEmpty()) {
                throw new TaskException("%s shows this user no cachedhive catalog: name it with --catalog, or use another --trino-user.".formatted(trinoUrl));
            }
            String sql = catalogs.stream()
                    .map(name -> "SELECT address FROM %s.cache.nodes".formatted(TrinoClient.identifier(name)))
                    .collect(joining(" UNION ", "", " ORDER BY address"));
            List<WorkerHost> nodes = new ArrayList<>();
            for (Map<String, JsonNode> row : client.query(sql)) {
                String address = row.get("address").asText();
                // what follows the last colon is the port for blocks
                String name = address.substring(0, address.lastIndexOf(':')).replace("[", "").replace("]", "");
                nodes.add(workers.stream()
                        .filter(worker -> worker.http().name().equals(name) || worker.name().equals(name))
                        .map(ClusterHost::http)
                        .findFirst()
                        .orElse(new WorkerHost(name, httpPort, https)));
            }
            if (nodes.isEmpty()) {
                throw new TaskException("%s knows no cache worker: start Trino workers that have the catalog, and see whether this user may read cache.nodes.".formatted(trinoUrl));
            }
            return nodes;
        }
    }

    /// Those of Trino's cache workers that the option `--hosts` selects, each with its secret, as in [#hosts].
    private Map<WorkerHost, Optional<String>> selected(List<WorkerHost> nodes, List<ClusterHost> workers, Optional<Cluster> cluster, Optional<String> given)
            throws ClusterFileException
    {
        Set<WorkerHost> wanted = new LinkedHashSet<>();
        for (String name : names) {
            List<WorkerHost> found = nodes.stream()
                    .filter(node -> node.name().equals(name) || node.toString().equals(name) || workers.stream()
                            .anyMatch(worker -> worker.http().equals(node) && (worker.name().equals(name) || worker.groups().contains(name))))
                    .toList();
            if (found.isEmpty()) {
                throw new WrongUsageException("--hosts: %s is not a cache worker of %s: it has %s.".formatted(
                        name, trinoUrl, nodes.stream().map(WorkerHost::toString).collect(joining(", "))));
            }
            wanted.addAll(found);
        }
        Map<WorkerHost, Optional<String>> hosts = new LinkedHashMap<>();
        for (WorkerHost node : nodes) {
            if (names.isEmpty() || wanted.contains(node)) {
                boolean inFile = workers.stream().anyMatch(worker -> worker.http().equals(node));
                hosts.put(node, given.isEmpty() && inFile ? HostFiles.readSecret(cluster.orElseThrow()) : given);
            }
        }
        return hosts;
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
        if (names.isEmpty() && trinoUrl == null) {
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
            // it was not named, and --hosts and --trino-url do not need it: it may be the example, not filled in yet
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
