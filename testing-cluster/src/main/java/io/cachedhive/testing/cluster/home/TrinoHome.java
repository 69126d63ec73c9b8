package io.cachedhive.testing.cluster.home;

import com.google.common.collect.ImmutableList;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

import static com.google.common.base.Preconditions.checkArgument;
import static com.google.common.base.Preconditions.checkState;
import static com.google.common.base.Verify.verify;
import static java.util.Objects.requireNonNull;

/**
 * A Trino server installed in a directory: coordinator or worker, with the plugins that an operator would copy into {@code plugin/},
 * and the configuration of {@code etc/coordinator} or {@code etc/worker} with this host's values put in.
 */
public record TrinoHome(Path path, String nodeId, String address, URI httpUri, OptionalInt jmxPort, boolean coordinator)
        implements ServerHome
{
    /** The server with the engine extension. */
    public static final String EXTENDED_SERVER = "io.cachedhive.engine.CachedTrinoServer";
    /** The server as it comes from Trino, without the engine extension. */
    public static final String PLAIN_SERVER = "io.cachedhive.engine.PlainTrinoServer";

    // those of Trino's HTTP clients that talk to other servers of the cluster
    private static final List<String> INTERNAL_CLIENTS = List.of("announcer", "exchange");
    private static final List<String> INTERNAL_CLIENTS_OF_COORDINATOR = List.of("memory-manager", "node-manager", "scheduler", "worker-info");

    public TrinoHome
    {
        requireNonNull(path, "path is null");
        requireNonNull(nodeId, "nodeId is null");
        requireNonNull(address, "address is null");
        requireNonNull(httpUri, "httpUri is null");
        requireNonNull(jmxPort, "jmxPort is null");
    }

    public static Builder builder(Distribution distribution, Path path)
    {
        return new Builder(distribution, path);
    }

    public enum Plugin
    {
        CACHEDHIVE("cachedhive"),
        EXCHANGE_FILESYSTEM("exchange-filesystem"),
        HIVE("hive"),
        TPCH("tpch");

        private final String directory;

        Plugin(String directory)
        {
            this.directory = directory;
        }
    }

    public static final class Builder
    {
        private final Distribution distribution;
        private final Path path;
        private String nodeId = "trino";
        private String environment = "quickstart";
        private String address = "127.0.0.1";
        private int httpPort;
        private OptionalInt jmxPort = OptionalInt.empty();
        private boolean coordinator;
        private Optional<URI> discoveryUri = Optional.empty();
        private Optional<InternalTls> internalTls = Optional.empty();
        private String mainClass = EXTENDED_SERVER;
        private int heapMegabytes = 1024;
        private Optional<String> accessControl = Optional.empty();
        private final Set<Plugin> plugins = new LinkedHashSet<>();
        private final Map<String, Map<String, String>> catalogs = new LinkedHashMap<>();
        private final Map<String, String> config = new LinkedHashMap<>();
        private final Map<String, String> logLevels = new LinkedHashMap<>();
        private Optional<Path> exchangeDirectory = Optional.empty();
        private final ImmutableList.Builder<String> jvmOptions = ImmutableList.builder();

        private record InternalTls(int httpsPort, String sharedSecret) {}

        private Builder(Distribution distribution, Path path)
        {
            this.distribution = requireNonNull(distribution, "distribution is null");
            this.path = path.toAbsolutePath().normalize();
        }

        public Builder nodeId(String nodeId)
        {
            this.nodeId = requireNonNull(nodeId, "nodeId is null");
            return this;
        }

        public Builder environment(String environment)
        {
            this.environment = requireNonNull(environment, "environment is null");
            return this;
        }

        /** The loopback address to bind to and to announce, which stands for a host. */
        public Builder address(String address)
        {
            this.address = requireNonNull(address, "address is null");
            return this;
        }

        public Builder httpPort(int httpPort)
        {
            this.httpPort = httpPort;
            return this;
        }

        /** Opens remote JMX on this port, see {@link ServerHome#jmxUrl}. */
        public Builder remoteJmx(int port)
        {
            jmxPort = OptionalInt.of(port);
            return this;
        }

        /** Makes it a coordinator that runs no splits itself. */
        public Builder coordinator()
        {
            coordinator = true;
            return this;
        }

        /** Makes it a worker of the coordinator at the URI. */
        public Builder worker(URI coordinatorUri)
        {
            discoveryUri = Optional.of(coordinatorUri);
            return this;
        }

        /**
         * Encrypts the traffic between the Trino servers of the cluster, with certificates that Trino derives from the secret. The server announces itself under the name
         * that Trino then makes of its address, such as {@code 127-0-0-2.ip}. Clients still use HTTP. The URI of {@link #worker} must be one of HTTPS.
         *
         * @param httpsPort at which the other servers reach this one
         */
        public Builder internalTls(int httpsPort, String sharedSecret)
        {
            internalTls = Optional.of(new InternalTls(httpsPort, sharedSecret));
            return this;
        }

        /** {@link #EXTENDED_SERVER} unless said otherwise. */
        public Builder mainClass(String mainClass)
        {
            this.mainClass = requireNonNull(mainClass, "mainClass is null");
            return this;
        }

        public Builder heapMegabytes(int heapMegabytes)
        {
            this.heapMegabytes = heapMegabytes;
            return this;
        }

        public Builder plugin(Plugin plugin)
        {
            plugins.add(requireNonNull(plugin, "plugin is null"));
            return this;
        }

        /** {@code etc/catalog/NAME.properties}; a second call for the same name replaces the first. */
        public Builder catalog(String name, Map<String, String> properties)
        {
            catalogs.put(name, new LinkedHashMap<>(properties));
            return this;
        }

        /** Sets one property of a catalog named before. */
        public Builder catalogProperty(String name, String key, String value)
        {
            checkArgument(catalogs.containsKey(name), "no such catalog: %s", name);
            catalogs.get(name).put(key, value);
            return this;
        }

        /** A property of {@code etc/config.properties}. */
        public Builder config(String key, String value)
        {
            config.put(key, value);
            return this;
        }

        /** Installs the exchange of fault-tolerant execution, which keeps what tasks hand on in the directory: the same on all nodes of a cluster. */
        public Builder exchangeDirectory(Path directory)
        {
            plugins.add(Plugin.EXCHANGE_FILESYSTEM);
            exchangeDirectory = Optional.of(directory.toAbsolutePath());
            return this;
        }

        /** {@code access-control.name} of {@code etc/access-control.properties}: who may do what beyond the catalogs. Trino's default if not called. */
        public Builder accessControl(String accessControl)
        {
            this.accessControl = Optional.of(accessControl);
            return this;
        }

        /** Lines of {@code etc/jvm.config}. */
        public Builder jvmOptions(List<String> options)
        {
            jvmOptions.addAll(options);
            return this;
        }

        /** A line of {@code etc/jvm.config}, after the shipped ones. */
        public Builder jvmOption(String option)
        {
            jvmOptions.add(option);
            return this;
        }

        /** A line of {@code etc/log.properties}. */
        public Builder logLevel(String logger, String level)
        {
            logLevels.put(logger, level);
            return this;
        }

        /** Writes the home, over an earlier one in the same directory; what its server wrote to {@code var/} stays. */
        public TrinoHome assemble()
        {
            checkState(httpPort > 0, "httpPort was not set");
            checkState(coordinator != discoveryUri.isPresent(), "neither coordinator nor worker was chosen");
            URI httpUri = URI.create("http://%s:%s".formatted(address, httpPort));
            try {
                HomeAssembly.installLauncher(distribution.launcher(), path, mainClass, "trino-server");
                HomeAssembly.linkDirectory(distribution.trinoServerLibrary(), path.resolve("lib"));
                HomeAssembly.replaceDirectory(path.resolve("plugin"));
                for (Plugin plugin : plugins) {
                    installPlugin(plugin, path.resolve("plugin").resolve(plugin.directory));
                }
                HomeAssembly.replaceDirectory(path.resolve("etc"));
                writeConfiguration(httpUri);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new TrinoHome(path, nodeId, address, httpUri, jmxPort, coordinator);
        }

        private void installPlugin(Plugin plugin, Path directory)
                throws IOException
        {
            switch (plugin) {
                case CACHEDHIVE -> HomeAssembly.linkDirectory(distribution.cachedHivePlugin(), directory);
                case HIVE -> HomeAssembly.assemblePlugin(directory, distribution.hivePluginJars(), "io.trino.plugin.hive.HivePlugin");
                case EXCHANGE_FILESYSTEM -> HomeAssembly.assemblePlugin(
                        directory,
                        withHive(distribution.exchangeJars()),
                        "io.trino.plugin.exchange.filesystem.FileSystemExchangePlugin");
                case TPCH -> HomeAssembly.assemblePlugin(directory, withHive(distribution.tpchJars()), "io.trino.plugin.tpch.TpchPlugin");
            }
        }

        private List<Path> withHive(Path jars)
        {
            return ImmutableList.<Path>builder()
                    .addAll(Distribution.list(jars))
                    .addAll(distribution.hivePluginJars())
                    .build();
        }

        private void writeConfiguration(URI httpUri)
                throws IOException
        {
            Path etc = path.resolve("etc");
            Path shipped = distribution.etc().resolve(coordinator ? "coordinator" : "worker");
            HomeAssembly.write(etc.resolve("node.properties"), PackagedProperties.read(shipped.resolve("node.properties")).with(orderedMap(
                    "node.environment", environment,
                    "node.id", nodeId,
                    // Trino makes this name by itself only of addresses that are not loopback ones
                    "node.internal-address", internalTls.isPresent() ? address.replace('.', '-') + ".ip" : address,
                    "node.bind-ip", address)));

            Map<String, String> properties = orderedMap(
                    "coordinator", Boolean.toString(coordinator),
                    "http-server.http.port", Integer.toString(httpUri.getPort()),
                    "discovery.uri", discoveryUri.orElse(httpUri).toString());
            internalTls.ifPresent(tls -> properties.putAll(internalTlsProperties(tls)));
            properties.putAll(config);
            HomeAssembly.write(etc.resolve("config.properties"), PackagedProperties.read(shipped.resolve("config.properties")).with(properties));
            HomeAssembly.write(etc.resolve("log.properties"), PackagedProperties.read(shipped.resolve("log.properties")).with(logLevels));
            accessControl.ifPresent(value -> HomeAssembly.writeProperties(etc.resolve("access-control.properties"), Map.of("access-control.name", value)));

            ImmutableList.Builder<String> options = ImmutableList.builder();
            Files.readAllLines(shipped.resolve("jvm.config")).stream()
                    // regions of a size for production would leave a small heap a handful of them
                    .filter(line -> !line.startsWith("-Xmx") && !line.startsWith("-XX:G1HeapRegionSize"))
                    .forEach(options::add);
            options.add("-Xmx%sm".formatted(heapMegabytes));
            jmxPort.ifPresent(port -> options.addAll(HomeAssembly.remoteJmxOptions(address, port)));
            options.addAll(jvmOptions.build());
            HomeAssembly.write(etc.resolve("jvm.config"), String.join("\n", options.build()) + "\n");

            exchangeDirectory.ifPresent(directory -> HomeAssembly.writeProperties(
                    etc.resolve("exchange-manager.properties"),
                    orderedMap("exchange-manager.name", "filesystem", "exchange.base-directories", directory.toString())));
            catalogs.forEach((name, catalog) -> HomeAssembly.writeProperties(etc.resolve("catalog").resolve(name + ".properties"), catalog));
        }

        private Map<String, String> internalTlsProperties(InternalTls tls)
        {
            Map<String, String> properties = orderedMap(
                    "http-server.https.enabled", "true",
                    "http-server.https.port", Integer.toString(tls.httpsPort()),
                    "internal-communication.https.required", "true",
                    "internal-communication.shared-secret", tls.sharedSecret());
            if (coordinator) {
                properties.put("discovery.uri", "https://%s:%s".formatted(address, tls.httpsPort()));
            }
            // a certificate names the addresses of the network interfaces: of the loopback addresses, that is 127.0.0.1 alone
            Stream.concat(INTERNAL_CLIENTS.stream(), coordinator ? INTERNAL_CLIENTS_OF_COORDINATOR.stream() : Stream.empty())
                    .forEach(client -> properties.put(client + ".http-client.https.hostname-verification", "false"));
            return properties;
        }
    }

    static Map<String, String> orderedMap(String... keysAndValues)
    {
        verify(keysAndValues.length % 2 == 0);
        Map<String, String> map = new LinkedHashMap<>();
        for (int index = 0; index < keysAndValues.length; index += 2) {
            map.put(keysAndValues[index], keysAndValues[index + 1]);
        }
        return map;
    }
}
