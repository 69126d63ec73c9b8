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
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
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
    private static final int SECRET_BYTES = 32;

    private final Cluster cluster;
    private final Optional<String> secret;
    private final Map<String, String> catalogs;
    private final Map<String, String> origins;

    private HostFiles(Cluster cluster, Optional<String> secret, Map<String, String> catalogs, Map<String, String> origins)
    {
        this.cluster = cluster;
        this.secret = secret;
        this.catalogs = catalogs;
        this.origins = origins;
    }

    /// Reads what is on this machine.
    ///
    /// @throws ClusterFileException if a file is missing or wrong
    public static HostFiles read(Cluster cluster)
            throws ClusterFileException
    {
        return new HostFiles(cluster, readSecret(cluster), readDirectory(cluster.configurationDirectory().resolve("catalog")),
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
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        Path file = cluster.secretFile().get();
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(file, Base64.getUrlEncoder().withoutPadding().encodeToString(secret) + "\n");
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

    public static Optional<String> readSecret(Cluster cluster)
            throws ClusterFileException
    {
        if (cluster.secretFile().isEmpty() || isSecretMissing(cluster)) {
            return Optional.empty();
        }
        Path file = cluster.secretFile().get();
        String secret;
        try {
            secret = Files.readString(file).strip();
        }
        catch (IOException e) {
            throw new ClusterFileException("The secret %s cannot be read (%s): let its owner run this, or name another file as secret-file in %s."
                    .formatted(file, e, cluster.file()));
        }
        if (secret.isEmpty() || secret.contains("\n")) {
            throw new ClusterFileException("The secret %s is not a single line: copy it again from where cache-admin install ran.".formatted(file));
        }
        return Optional.of(secret);
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

    public Optional<String> secret()
    {
        return secret;
    }

    /// Whether a file is named for it, and was not there.
    public boolean secretIsMissing()
    {
        return cluster.secretFile().isPresent() && secret.isEmpty();
    }

    /// By name, as they are on this machine.
    public Map<String, String> catalogs()
    {
        return catalogs;
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
            files.add(new HostFile(etc + "config.properties", Reader.CACHE_WORKER, PropertiesText.with(example("config.properties"), workerProperties(host))));
            files.add(new HostFile(etc + "jvm.config", Reader.CACHE_WORKER, jvmConfig(host)));
            files.add(new HostFile(etc + "log.properties", Reader.CACHE_WORKER, example("log.properties")));
            files.add(new HostFile(etc + "node.properties", Reader.CACHE_WORKER, PropertiesText.with(example("node.properties"), nodeProperties(host))));
            Map<String, String> stores = origins.isEmpty() ? Map.of("default", example("origins/default.properties")) : origins;
            stores.forEach((name, content) -> files.add(new HostFile(etc + "origins/" + name + ".properties", Reader.CACHE_WORKER, content)));
        }
        if (host.trinoHome().isPresent()) {
            catalogs.forEach((name, content) -> files.add(new HostFile(host.trinoEtc() + "/catalog/" + name + ".properties", Reader.TRINO, catalog(host, content))));
        }
        return files;
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

    private Map<String, String> workerProperties(ClusterHost host)
    {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("cache.worker.port", Integer.toString(host.workerPort()));
        properties.put("http-server.http.port", Integer.toString(host.httpPort()));
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
        secret.ifPresent(value -> properties.put("internal-communication.shared-secret", value));
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
        if (!"cachedhive".equals(given.get("connector.name"))) {
            return content;
        }
        Map<String, String> missing = new LinkedHashMap<>();
        if (host.workerPort() != 8484) {
            missing.put("cachedhive.worker.port", Integer.toString(host.workerPort()));
        }
        if (!host.socketPath().equals("/run/cachedhive/worker.sock")) {
            missing.put("cachedhive.worker.socket-path", host.socketPath());
        }
        secret.ifPresent(value -> missing.put("cachedhive.shared-secret", value));
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
