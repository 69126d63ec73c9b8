package io.cachedhive.admin.settings;

import io.cachedhive.admin.cluster.Cluster;
import io.cachedhive.admin.cluster.ClusterFileException;
import io.cachedhive.admin.cluster.ClusterHost;
import io.cachedhive.admin.settings.HostFile.Reader;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * Makes the files of each host out of the hosts file, the configuration directory and the secret.
 */
public final class HostFiles
{
    private static final String WORKER_SECRET = "internal-communication.shared-secret";
    private static final String CATALOG_SECRET = "cachedhive.shared-secret";
    private static final String FILE = "-file";
    private static final String HTTP_PORT = "http-server.http.port";

    private final Cluster cluster;
    private final Optional<SecretFile.Content> secrets;
    private final Map<String, String> catalogs;
    private final Map<String, String> origins;

    private HostFiles(Cluster cluster, Optional<SecretFile.Content> secrets, Map<String, String> catalogs, Map<String, String> origins)
    {
        this.cluster = cluster;
        this.secrets = secrets;
        this.catalogs = catalogs;
        this.origins = origins;
    }

    /// Reads what is on this machine.
    ///
    /// @throws ClusterFileException if a file is missing or wrong
    public static HostFiles read(Cluster cluster)
            throws ClusterFileException
    {
        return new HostFiles(cluster, readSecrets(cluster), readDirectory(cluster.configurationDirectory().resolve("catalog")),
                readDirectory(cluster.configurationDirectory().resolve("origins")));
    }

    /// The file of the secret, if it was named and did not exist: it does now.
    ///
    /// @throws ClusterFileException if it cannot be written
    public static Optional<Path> createSecret(Cluster cluster)
            throws ClusterFileException
    {
        if (!isSecretMissing(cluster)) {
            return Optional.empty();
        }
        Path file = cluster.secretFile().get();
        try {
            SecretFile.create(file);
        }
        catch (IOException e) {
            throw new ClusterFileException("The file %s for the secret cannot be written (%s): name another place as secret-file in %s.".formatted(file, e, cluster.file()));
        }
        return Optional.of(file);
    }

    /// Whether a file is named for the secret, and is not there.
    public static boolean isSecretMissing(Cluster cluster)
    {
        return cluster.secretFile().isPresent() && Files.notExists(cluster.secretFile().get());
    }

    /// What writes configuration needs the secret: without it, it would take that of the hosts away.
    ///
    /// @throws ClusterFileException if it is named and missing
    public static void requireSecret(Cluster cluster)
            throws ClusterFileException
    {
        if (isSecretMissing(cluster)) {
            throw new ClusterFileException(("The secret-file %s does not exist: copy it from where cache-admin install ran, or, if nothing is installed yet, run that, "
                    + "which makes it.").formatted(cluster.secretFile().get()));
        }
    }

    /// The preferred secret, if there is one.
    public static Optional<String> readSecret(Cluster cluster)
            throws ClusterFileException
    {
        return readSecrets(cluster).map(SecretFile.Content::preferred);
    }

    private static Optional<SecretFile.Content> readSecrets(Cluster cluster)
            throws ClusterFileException
    {
        if (cluster.secretFile().isEmpty() || isSecretMissing(cluster)) {
            return Optional.empty();
        }
        return Optional.of(SecretFile.read(cluster.secretFile().get()));
    }

    private static Map<String, String> readDirectory(Path directory)
            throws ClusterFileException
    {
        Map<String, String> files = new TreeMap<>();
        if (Files.isDirectory(directory)) {
            try (Stream<Path> paths = Files.list(directory)) {
                for (Path path : paths.filter(path -> path.getFileName().toString().endsWith(".properties")).toList()) {
                    String name = path.getFileName().toString();
                    files.put(name.substring(0, name.length() - ".properties".length()), Files.readString(path));
                }
            }
            catch (IOException e) {
                throw new ClusterFileException("The configuration in %s cannot be read (%s): let its owner run this, or name another configuration-directory."
                        .formatted(directory, e));
            }
        }
        return files;
    }

    /// The preferred secret.
    public Optional<String> secret()
    {
        return secrets.map(SecretFile.Content::preferred);
    }

    /// All valid secrets, the preferred one first.
    public List<String> secrets()
    {
        return secrets.map(SecretFile.Content::secrets).orElse(List.of());
    }

    /// Whether a file is named for it, and was not there.
    public boolean secretIsMissing()
    {
        return cluster.secretFile().isPresent() && secrets.isEmpty();
    }

    /// By name, as they are on this machine.
    public Map<String, String> catalogs()
    {
        return catalogs;
    }

    /// Whether a catalog needs the plugin for Iceberg tables, which the other plugin does without.
    public boolean hasIcebergCatalog()
    {
        return catalogs.values().stream().anyMatch(text -> CacheConnectors.isIceberg(PropertiesText.read(text)));
    }

    public Map<String, String> origins()
    {
        return origins;
    }

    /// What the host is to have, in the order of the paths.
    ///
    /// @throws ClusterFileException if the host's address is unknown
    public List<HostFile> of(ClusterHost host)
            throws ClusterFileException
    {
        List<HostFile> files = new ArrayList<>();
        if (host.isWorker()) {
            String etc = host.installDirectory() + "/etc/";
            files.add(new HostFile(etc + "config.properties", Reader.CACHE_WORKER, PropertiesText.with(workerExample(host), workerProperties(host))));
            files.add(new HostFile(etc + "jvm.config", Reader.CACHE_WORKER, jvmConfig(host)));
            files.add(new HostFile(etc + "log.properties", Reader.CACHE_WORKER, example("log.properties")));
            files.add(new HostFile(etc + "node.properties", Reader.CACHE_WORKER, PropertiesText.with(example("node.properties"), nodeProperties(host))));
            Map<String, String> stores = origins.isEmpty() ? Map.of("default", example("origins/default.properties")) : origins;
            stores.forEach((name, content) -> files.add(new HostFile(etc + "origins/" + name + ".properties", Reader.CACHE_WORKER, content)));
        }
        secrets.ifPresent(content -> files.addAll(secretFiles(host, content)));
        if (host.trinoHome().isPresent()) {
            catalogs.forEach((name, content) -> files.add(new HostFile(host.trinoEtc() + "/catalog/" + name + ".properties", Reader.TRINO, catalog(host, content))));
        }
        return files;
    }

    /// The files with the shared secrets. The user of Trino cannot read those of the cache worker, so there are two on a host with both.
    ///
    /// @param content may be another one than on this machine
    public List<HostFile> secretFiles(ClusterHost host, SecretFile.Content content)
    {
        List<HostFile> files = new ArrayList<>();
        if (host.isWorker() && !hasOwnSecret(host.workerProperties(), WORKER_SECRET)) {
            files.add(new HostFile(workerSecretFile(host), Reader.CACHE_WORKER, content.hostText(), true));
        }
        if (host.trinoHome().isPresent() && catalogs.values().stream()
                .map(PropertiesText::read)
                .anyMatch(properties -> CacheConnectors.isCached(properties) && !hasOwnSecret(properties, CATALOG_SECRET))) {
            files.add(new HostFile(trinoSecretFile(host), Reader.TRINO, content.hostText(), true));
        }
        return files;
    }

    /// Where the configuration on this machine sets a secret itself, instead of the files with the secret.
    public List<String> ownSecrets()
    {
        List<String> places = new ArrayList<>();
        cluster.workers().stream()
                .filter(host -> hasOwnSecret(host.workerProperties(), WORKER_SECRET))
                .forEach(host -> places.add("%s in worker-properties of %s".formatted(WORKER_SECRET, host)));
        catalogs.forEach((name, content) -> {
            Map<String, String> properties = PropertiesText.read(content);
            if (CacheConnectors.isCached(properties) && hasOwnSecret(properties, CATALOG_SECRET)) {
                places.add("%s in the catalog %s".formatted(CATALOG_SECRET, name));
            }
        });
        return places;
    }

    private static boolean hasOwnSecret(Map<String, String> properties, String name)
    {
        return properties.containsKey(name) || properties.containsKey(name + FILE);
    }

    /// Whether a configuration file of a host takes its shared secret from a file.
    public static boolean namesSecretFile(String content)
    {
        Map<String, String> properties = PropertiesText.read(content);
        return properties.containsKey(WORKER_SECRET + FILE) || properties.containsKey(CATALOG_SECRET + FILE);
    }

    static String workerSecretFile(ClusterHost host)
    {
        return host.installDirectory() + "/etc/shared-secret";
    }

    static String trinoSecretFile(ClusterHost host)
    {
        return host.trinoEtc() + "/cachedhive-shared-secret";
    }

    /// @return where other hosts reach it
    public static String address(ClusterHost host)
            throws ClusterFileException
    {
        String name = host.address().orElse(host.name());
        try {
            return InetAddress.getByName(name).getHostAddress();
        }
        catch (UnknownHostException _) {
            throw new ClusterFileException("%s: the name %s is unknown to this machine, and other hosts need an address: set `address` of this host in the hosts file."
                    .formatted(host, name));
        }
    }

    /// @return what its cache worker binds to
    public static String bindAddress(ClusterHost host)
            throws ClusterFileException
    {
        return host.bindAddress().isPresent() ? host.bindAddress().get() : address(host);
    }

    private static String workerExample(ClusterHost host)
    {
        String example = example("config.properties");
        // airlift refuses the port of what is switched off
        return host.https() ? PropertiesText.without(example, HTTP_PORT::equals) : example;
    }

    private Map<String, String> workerProperties(ClusterHost host)
    {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("cache.worker.port", Integer.toString(host.workerPort()));
        if (host.https()) {
            properties.put("http-server.http.enabled", "false");
            properties.put("http-server.https.enabled", "true");
            properties.put("http-server.https.port", Integer.toString(host.httpPort()));
        }
        else {
            properties.put(HTTP_PORT, Integer.toString(host.httpPort()));
        }
        properties.put("cache.worker.socket-path", host.socketPath());
        host.socketGroup().ifPresent(group -> properties.put("cache.worker.socket-group", group));
        host.zone().ifPresent(zone -> properties.put("cache.worker.zone", zone));
        properties.put("cache.ram.directory", host.ramDirectory());
        properties.put("cache.ram.max-size", host.ram().text());
        if (!host.ssd().isEmpty()) {
            properties.put("cache.ssd.directories", host.ssd().stream().map(ClusterHost.SsdDirectory::path).collect(joining(",")));
            if (host.ssd().getFirst().size().isPresent()) {
                properties.put("cache.ssd.max-sizes", host.ssd().stream().map(directory -> directory.size().orElseThrow().text()).collect(joining(",")));
            }
            else {
                properties.put("cache.ssd.max-disk-usage-percentages",
                        host.ssd().stream().map(directory -> Integer.toString(directory.percentage().getAsInt())).collect(joining(",")));
            }
        }
        properties.put("cache.origins-directory", host.installDirectory() + "/etc/origins");
        if (secrets.isPresent() && !hasOwnSecret(host.workerProperties(), WORKER_SECRET)) {
            properties.put(WORKER_SECRET + FILE, workerSecretFile(host));
        }
        properties.putAll(host.workerProperties());
        return properties;
    }

    private Map<String, String> nodeProperties(ClusterHost host)
            throws ClusterFileException
    {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("node.environment", cluster.name());
        properties.put("node.id", host.name().replaceAll("[^A-Za-z0-9_-]", "-"));
        properties.put("node.data-dir", host.installDirectory() + "/data");
        properties.put("node.internal-address", address(host));
        properties.put("node.bind-ip", bindAddress(host));
        return properties;
    }

    private static String jvmConfig(ClusterHost host)
    {
        return example("jvm.config").lines()
                .map(line -> line.startsWith("-Xmx") ? "-Xmx" + (host.heap().bytes() >> 20) + "M" : line)
                .collect(joining("\n", "", "\n"));
    }

    private String catalog(ClusterHost host, String content)
    {
        Map<String, String> given = PropertiesText.read(content);
        if (!CacheConnectors.isCached(given)) {
            return content;
        }
        Map<String, String> missing = new LinkedHashMap<>();
        if (host.workerPort() != 8484) {
            missing.put("cachedhive.worker.port", Integer.toString(host.workerPort()));
        }
        if (!host.socketPath().equals("/run/cachedhive/worker.sock")) {
            missing.put("cachedhive.worker.socket-path", host.socketPath());
        }
        if (secrets.isPresent() && !hasOwnSecret(given, CATALOG_SECRET)) {
            missing.put(CATALOG_SECRET + FILE, trinoSecretFile(host));
        }
        missing.keySet().removeAll(given.keySet());
        return PropertiesText.with(content, missing);
    }

    static String example(String name)
    {
        try (InputStream example = requireNonNull(HostFiles.class.getResourceAsStream("cache-worker/" + name), name)) {
            return new String(example.readAllBytes(), UTF_8);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
