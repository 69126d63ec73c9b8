package io.cachedhive.testing.cluster.home;

import com.google.common.collect.ImmutableList;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

import static com.google.common.base.Preconditions.checkState;
import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

/**
 * A cache worker installed in a directory from its package: the packaged configuration with this host's values put in.
 *
 * @param workerPort TCP port of the block server
 * @param httpUri where {@code /v1/status} is
 * @param sharedSecret that clients over TCP and HTTP must prove
 * @param sharedSecretFile from which the cache worker reads it; without one, it is a property
 */
public record CacheWorkerHome(
        Path path,
        String nodeId,
        String address,
        URI httpUri,
        OptionalInt jmxPort,
        int workerPort,
        Path socketPath,
        String sharedSecret,
        Optional<SharedSecretFile> sharedSecretFile)
        implements ServerHome
{
    public CacheWorkerHome
    {
        requireNonNull(path, "path is null");
        requireNonNull(nodeId, "nodeId is null");
        requireNonNull(address, "address is null");
        requireNonNull(httpUri, "httpUri is null");
        requireNonNull(jmxPort, "jmxPort is null");
        requireNonNull(socketPath, "socketPath is null");
        requireNonNull(sharedSecret, "sharedSecret is null");
        requireNonNull(sharedSecretFile, "sharedSecretFile is null");
    }

    /** A secret that the cache worker accepts at the moment. */
    @Override
    public String sharedSecret()
    {
        return sharedSecretFile.map(SharedSecretFile::accepted).orElse(sharedSecret);
    }

    @Override
    public String toString()
    {
        // without the secret
        return "CacheWorkerHome{path=%s, nodeId=%s, httpUri=%s, workerPort=%s}".formatted(path, nodeId, httpUri, workerPort);
    }

    public static Builder builder(Distribution distribution, Path path)
    {
        return new Builder(distribution, path);
    }

    /** Space for cached blocks on an SSD. {@code maxSize} is written as in the configuration, {@code 2GB}. */
    public record SsdDirectory(Path path, String maxSize) {}

    public static final class Builder
    {
        private final Distribution distribution;
        private final Path path;
        private String nodeId = "cache-worker";
        private String environment = "quickstart";
        private String address = "127.0.0.1";
        private int workerPort;
        private int httpPort;
        private OptionalInt jmxPort = OptionalInt.empty();
        private Path socketPath;
        private String sharedSecret = SharedSecrets.generate();
        private Optional<SharedSecretFile> sharedSecretFile = Optional.empty();
        private Path ramDirectory = Path.of("/dev/shm");
        private String ramMaxSize = "256MB";
        private int heapMegabytes = 512;
        private List<SsdDirectory> ssdDirectories = ImmutableList.of();
        private final Map<String, Map<String, String>> origins = new LinkedHashMap<>();
        private final Map<String, String> config = new LinkedHashMap<>();
        private final Map<String, String> logLevels = new LinkedHashMap<>();
        private final ImmutableList.Builder<String> jvmOptions = ImmutableList.builder();

        private Builder(Distribution distribution, Path path)
        {
            this.distribution = requireNonNull(distribution, "distribution is null");
            this.path = path.toAbsolutePath().normalize();
            this.socketPath = this.path.resolve("worker.sock");
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

        public Builder address(String address)
        {
            this.address = requireNonNull(address, "address is null");
            return this;
        }

        /** {@code cache.worker.port} */
        public Builder workerPort(int workerPort)
        {
            this.workerPort = workerPort;
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

        /** {@code cache.worker.socket-path}: at most 107 bytes, the kernel's limit. */
        public Builder socketPath(Path socketPath)
        {
            this.socketPath = requireNonNull(socketPath, "socketPath is null");
            return this;
        }

        /** {@code internal-communication.shared-secret}; a random one if not called. */
        public Builder sharedSecret(String sharedSecret)
        {
            this.sharedSecret = requireNonNull(sharedSecret, "sharedSecret is null");
            return this;
        }

        /** {@code internal-communication.shared-secret-file}, which gets the secret; without it, the secret is a property. */
        public Builder sharedSecretFile(SharedSecretFile sharedSecretFile)
        {
            this.sharedSecretFile = Optional.of(sharedSecretFile);
            return this;
        }

        /** {@code cache.ram.directory} */
        public Builder ramDirectory(Path ramDirectory)
        {
            this.ramDirectory = requireNonNull(ramDirectory, "ramDirectory is null");
            return this;
        }

        /** {@code cache.ram.max-size}, as in the configuration: {@code 256MB}. */
        public Builder ramMaxSize(String ramMaxSize)
        {
            this.ramMaxSize = requireNonNull(ramMaxSize, "ramMaxSize is null");
            return this;
        }

        /** {@code cache.ssd.directories} and {@code cache.ssd.max-sizes}; replaces what an earlier call said. */
        public Builder ssdDirectories(List<SsdDirectory> ssdDirectories)
        {
            this.ssdDirectories = ImmutableList.copyOf(ssdDirectories);
            return this;
        }

        public Builder heapMegabytes(int heapMegabytes)
        {
            this.heapMegabytes = heapMegabytes;
            return this;
        }

        /** {@code etc/origins/NAME.properties} */
        public Builder origin(String name, Map<String, String> properties)
        {
            origins.put(name, new LinkedHashMap<>(properties));
            return this;
        }

        /** A property of {@code etc/config.properties}, over what the other methods set. */
        public Builder config(String key, String value)
        {
            config.put(key, value);
            return this;
        }

        /** Lines of {@code etc/jvm.config}. */
        public Builder jvmOptions(List<String> options)
        {
            jvmOptions.addAll(options);
            return this;
        }

        /** A line of {@code etc/jvm.config}, after the packaged ones. */
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

        /** Writes the home, over an earlier one in the same directory; what its server wrote stays. */
        public CacheWorkerHome assemble()
        {
            checkState(httpPort > 0, "httpPort was not set");
            checkState(workerPort > 0, "workerPort was not set");
            Path packaged = distribution.cacheWorker();
            try {
                HomeAssembly.installLauncher(packaged.resolve("bin"), path, "io.cachedhive.worker.CacheWorker", "cache-worker");
                HomeAssembly.linkDirectory(packaged.resolve("lib"), path.resolve("lib"));
                HomeAssembly.replaceDirectory(path.resolve("etc"));
                Files.createDirectories(ramDirectory);
                for (SsdDirectory directory : ssdDirectories) {
                    Files.createDirectories(directory.path());
                }
                writeConfiguration(packaged.resolve("etc"));
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            sharedSecretFile.ifPresent(file -> file.write(List.of(sharedSecret)));
            URI httpUri = URI.create("http://%s:%s".formatted(address, httpPort));
            return new CacheWorkerHome(path, nodeId, address, httpUri, jmxPort, workerPort, socketPath, sharedSecret, sharedSecretFile);
        }

        private void writeConfiguration(Path packaged)
                throws IOException
        {
            Path etc = path.resolve("etc");
            Map<String, String> node = TrinoHome.orderedMap(
                    "node.environment", environment,
                    "node.id", nodeId,
                    "node.internal-address", address,
                    "node.bind-ip", address);
            HomeAssembly.write(etc.resolve("node.properties"), PackagedProperties.read(packaged.resolve("node.properties")).with(node));

            Map<String, String> properties = TrinoHome.orderedMap(
                    "http-server.http.port", Integer.toString(httpPort),
                    "cache.worker.port", Integer.toString(workerPort),
                    "cache.worker.socket-path", socketPath.toString(),
                    sharedSecretFile.isPresent() ? "internal-communication.shared-secret-file" : "internal-communication.shared-secret",
                    sharedSecretFile.map(file -> file.path().toString()).orElse(sharedSecret),
                    "cache.ram.directory", ramDirectory.toString(),
                    "cache.ram.max-size", ramMaxSize,
                    "cache.ssd.directories", join(ssdDirectories.stream().map(directory -> directory.path().toString()).toList()),
                    "cache.ssd.max-sizes", join(ssdDirectories.stream().map(SsdDirectory::maxSize).toList()));
            properties.putAll(config);
            HomeAssembly.write(etc.resolve("config.properties"), PackagedProperties.read(packaged.resolve("config.properties")).with(properties));

            HomeAssembly.write(etc.resolve("log.properties"), PackagedProperties.read(packaged.resolve("log.properties")).with(logLevels));

            ImmutableList.Builder<String> options = ImmutableList.builder();
            Files.readAllLines(packaged.resolve("jvm.config")).stream()
                    .filter(line -> !line.startsWith("-Xmx"))
                    // takes processors for seconds to make the next starts quicker: not in a cluster that lives for minutes
                    .filter(line -> !line.startsWith("-XX:SharedArchiveFile="))
                    .forEach(options::add);
            options.add("-Xmx%sm".formatted(heapMegabytes));
            jmxPort.ifPresent(port -> options.addAll(HomeAssembly.remoteJmxOptions(address, port)));
            options.addAll(jvmOptions.build());
            HomeAssembly.write(etc.resolve("jvm.config"), String.join("\n", options.build()) + "\n");

            origins.forEach((name, origin) -> HomeAssembly.writeProperties(etc.resolve("origins").resolve(name + ".properties"), origin));
        }

        private static String join(List<String> values)
        {
            return values.stream().collect(joining(","));
        }
    }
}
