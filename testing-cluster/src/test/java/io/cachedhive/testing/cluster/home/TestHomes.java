package io.cachedhive.testing.cluster.home;

import io.cachedhive.testing.cluster.home.CacheWorkerHome.SsdDirectory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

/** Homes assembled from a repository whose build left files of the right names. */
class TestHomes
{
    @TempDir
    private Path directory;

    private Path repository;

    @BeforeEach
    void build()
            throws IOException
    {
        repository = directory.resolve("repository");
        for (String file : List.of(
                "pom.xml",
                "testing-cluster/pom.xml",
                "plugin-cachedhive/pom.xml",
                "engine-extension/target/trino-server/lib/trino-main-483.jar",
                "plugin-cachedhive/target/plugin/cachedhive/plugin-cachedhive-1.jar",
                "plugin-cachedhive/target/plugin/cachedhive/plugin-core-1.jar",
                "plugin-cachedhive/target/plugin/cachedhive/plugin-trino-1.jar",
                "plugin-cachedhive/target/plugin/cachedhive/cache-client-1.jar",
                "plugin-cachedhive/target/plugin/cachedhive/cache-protocol-1.jar",
                "plugin-cachedhive/target/plugin/cachedhive/trino-hive-483.jar",
                "testing-cluster/target/plugin/tpch/trino-tpch-483.jar",
                "testing-cluster/target/plugin/exchange-filesystem/trino-exchange-filesystem-483.jar",
                "testing-cluster/target/launcher/bin/launcher",
                "testing-cluster/target/launcher/bin/linux-amd64/launcher",
                "cache-worker-daemon/target/cache-worker-1/bin/launcher",
                "cache-worker-daemon/target/cache-worker-1/lib/cache-worker-daemon-1.jar",
                "cache-worker-daemon/target/cache-worker-1/etc/node.properties",
                "cache-worker-daemon/target/cache-worker-1/etc/log.properties")) {
            write(file, "");
        }
        write("cache-worker-daemon/target/cache-worker-1/etc/config.properties", "# the cache\ncache.worker.port=8484\ncache.ttl=7d\n");
        write("etc/coordinator/jvm.config", "-Xmx16G\n-XX:+UseG1GC\n");
        write("etc/worker/config.properties", "# a worker\ncoordinator=false\ndiscovery.uri=http://example.net\nquery.max-memory=50GB\n");
        write("etc/worker/jvm.config", "-Xmx16G\n-XX:+UseG1GC\n-XX:G1HeapRegionSize=32M\n");
        write("etc/worker/log.properties", "io.trino=INFO\n");
        write("cache-worker-daemon/target/cache-worker-1/etc/jvm.config", "-Xmx1G\n-XX:+UseG1GC\n");
    }

    @Test
    void testTrinoHome()
            throws Exception
    {
        TrinoHome home = TrinoHome.builder(Distribution.ofRepository(repository), directory.resolve("home"))
                .nodeId("worker-1")
                .address("127.0.0.2")
                .httpPort(8080)
                .worker(URI.create("http://127.0.0.1:8081"))
                .heapMegabytes(700)
                .plugin(TrinoHome.Plugin.CACHEDHIVE)
                .plugin(TrinoHome.Plugin.HIVE)
                .plugin(TrinoHome.Plugin.TPCH)
                .catalog("tpch", Map.of("connector.name", "tpch"))
                .catalogProperty("tpch", "tpch.splits-per-node", "4")
                .config("query.max-memory", "1GB")
                .accessControl("allow-all")
                .jvmOption("-Done=1")
                .logLevel("io.airlift", "WARN")
                .remoteJmx(9999)
                .assemble();

        assertThat(home.httpUri()).isEqualTo(URI.create("http://127.0.0.2:8080"));
        assertThat(home.launcher()).exists();
        assertThat(properties(home, "bin/launcher.properties")).containsEntry("main-class", TrinoHome.EXTENDED_SERVER);
        assertThat(home.path().resolve("lib/trino-main-483.jar")).exists();
        assertThat(names(home.path().resolve("plugin/cachedhive")))
                .containsExactly("cache-client-1.jar", "cache-protocol-1.jar", "plugin-cachedhive-1.jar", "plugin-core-1.jar", "plugin-trino-1.jar", "trino-hive-483.jar");
        assertThat(names(home.path().resolve("plugin/hive"))).containsExactly("service.jar", "trino-hive-483.jar");
        assertThat(service(home, "hive")).isEqualTo("io.trino.plugin.hive.HivePlugin\n");
        assertThat(names(home.path().resolve("plugin/tpch"))).containsExactly("service.jar", "trino-hive-483.jar", "trino-tpch-483.jar");
        assertThat(service(home, "tpch")).isEqualTo("io.trino.plugin.tpch.TpchPlugin\n");

        assertThat(properties(home, "etc/node.properties")).containsEntry("node.id", "worker-1").containsEntry("node.bind-ip", "127.0.0.2");
        assertThat(properties(home, "etc/config.properties")).containsExactlyInAnyOrderEntriesOf(Map.of(
                "coordinator", "false",
                "http-server.http.port", "8080",
                "discovery.uri", "http://127.0.0.1:8081",
                "query.max-memory", "1GB"));
        assertThat(properties(home, "etc/catalog/tpch.properties")).containsExactlyInAnyOrderEntriesOf(Map.of("connector.name", "tpch", "tpch.splits-per-node", "4"));
        assertThat(properties(home, "etc/access-control.properties")).containsExactly(entry("access-control.name", "allow-all"));
        assertThat(properties(home, "etc/log.properties")).containsExactlyInAnyOrderEntriesOf(Map.of("io.trino", "INFO", "io.airlift", "WARN"));
        assertThat(Files.readAllLines(home.path().resolve("etc/jvm.config")))
                .startsWith("-XX:+UseG1GC", "-Xmx700m", "-Dcom.sun.management.jmxremote.port=9999")
                .contains("-Dcom.sun.management.jmxremote.host=127.0.0.2")
                .endsWith("-Done=1");
        assertThat(home.jmxUrl().orElseThrow()).hasToString("service:jmx:rmi:///jndi/rmi://127.0.0.2:9999/jmxrmi");
    }

    @Test
    void testInternalTls()
            throws Exception
    {
        Distribution distribution = Distribution.ofRepository(repository);
        TrinoHome coordinator = TrinoHome.builder(distribution, directory.resolve("coordinator"))
                .coordinator()
                .httpPort(1)
                .internalTls(2, "secret")
                .assemble();
        TrinoHome worker = TrinoHome.builder(distribution, directory.resolve("worker"))
                .worker(URI.create("https://127.0.0.1:2"))
                .address("127.0.0.2")
                .httpPort(3)
                .internalTls(4, "secret")
                .assemble();

        assertThat(properties(coordinator, "etc/node.properties")).containsEntry("node.internal-address", "127-0-0-1.ip").containsEntry("node.bind-ip", "127.0.0.1");
        assertThat(properties(worker, "etc/node.properties")).containsEntry("node.internal-address", "127-0-0-2.ip").containsEntry("node.bind-ip", "127.0.0.2");
        assertThat(properties(coordinator, "etc/config.properties"))
                .containsEntry("internal-communication.https.required", "true")
                .containsEntry("internal-communication.shared-secret", "secret")
                .containsEntry("http-server.https.port", "2")
                .containsEntry("scheduler.http-client.https.hostname-verification", "false")
                .containsEntry("discovery.uri", "https://127.0.0.1:2");
        assertThat(properties(worker, "etc/config.properties"))
                .containsEntry("http-server.https.port", "4")
                // Trino does not start with a property of a client that it does not have
                .doesNotContainKey("scheduler.http-client.https.hostname-verification")
                .containsEntry("discovery.uri", "https://127.0.0.1:2");
        // where clients ask
        assertThat(worker.httpUri()).isEqualTo(URI.create("http://127.0.0.2:3"));
    }

    @Test
    void testExchange()
            throws Exception
    {
        TrinoHome home = TrinoHome.builder(Distribution.ofRepository(repository), directory.resolve("home"))
                .coordinator()
                .httpPort(1)
                .exchangeDirectory(directory.resolve("exchange"))
                .assemble();
        assertThat(names(home.path().resolve("plugin/exchange-filesystem"))).containsExactly("service.jar", "trino-exchange-filesystem-483.jar", "trino-hive-483.jar");
        assertThat(service(home, "exchange-filesystem")).isEqualTo("io.trino.plugin.exchange.filesystem.FileSystemExchangePlugin\n");
        assertThat(properties(home, "etc/exchange-manager.properties")).containsExactlyInAnyOrderEntriesOf(Map.of(
                "exchange-manager.name", "filesystem",
                "exchange.base-directories", directory.resolve("exchange").toString()));
    }

    @Test
    void testAssembledAgain()
            throws Exception
    {
        Path path = directory.resolve("home");
        Distribution distribution = Distribution.ofRepository(repository);
        TrinoHome.builder(distribution, path).coordinator().httpPort(1).plugin(TrinoHome.Plugin.CACHEDHIVE).catalog("old", Map.of("connector.name", "tpch")).assemble();
        Files.createDirectories(path.resolve("var/log"));
        Files.writeString(path.resolve("var/log/output.log"), "kept");

        TrinoHome home = TrinoHome.builder(distribution, path).coordinator().httpPort(1).plugin(TrinoHome.Plugin.HIVE).assemble();
        assertThat(names(path.resolve("plugin"))).containsExactly("hive");
        assertThat(path.resolve("etc/catalog/old.properties")).doesNotExist();
        assertThat(path.resolve("etc/access-control.properties")).doesNotExist();
        assertThat(path.resolve("var/log/output.log")).hasContent("kept");
        assertThat(properties(home, "etc/config.properties")).containsEntry("discovery.uri", "http://127.0.0.1:1");
        assertThat(home.jmxUrl()).isEmpty();
        // links were removed, not what they led to
        assertThat(repository.resolve("plugin-cachedhive/target/plugin/cachedhive/plugin-cachedhive-1.jar")).exists();
        assertThat(repository.resolve("engine-extension/target/trino-server/lib/trino-main-483.jar")).exists();
    }

    @Test
    void testCacheWorkerHome()
            throws Exception
    {
        CacheWorkerHome home = CacheWorkerHome.builder(Distribution.ofRepository(repository), directory.resolve("home"))
                .nodeId("cache-worker-1")
                .address("127.0.0.2")
                .workerPort(9484)
                .httpPort(9485)
                .ramDirectory(directory.resolve("shm"))
                .ramMaxSize("64MB")
                .ssdDirectories(List.of(new SsdDirectory(directory.resolve("a"), "1GB"), new SsdDirectory(directory.resolve("b"), "2GB")))
                .origin("default", Map.of("s3.endpoint", "http://127.0.0.1:9000"))
                .config("cache.ttl", "1d")
                .heapMegabytes(300)
                .assemble();

        assertThat(home.httpUri()).isEqualTo(URI.create("http://127.0.0.2:9485"));
        assertThat(home.launcher()).exists();
        assertThat(properties(home, "bin/launcher.properties")).containsEntry("main-class", "io.cachedhive.worker.CacheWorker");
        assertThat(home.path().resolve("lib/cache-worker-daemon-1.jar")).exists();
        assertThat(properties(home, "etc/config.properties")).containsExactlyInAnyOrderEntriesOf(Map.of(
                "http-server.http.port", "9485",
                "cache.worker.port", "9484",
                "cache.worker.socket-path", home.path().resolve("worker.sock").toString(),
                "internal-communication.shared-secret", home.sharedSecret(),
                "cache.ram.directory", directory.resolve("shm").toString(),
                "cache.ram.max-size", "64MB",
                "cache.ssd.directories", directory.resolve("a") + "," + directory.resolve("b"),
                "cache.ssd.max-sizes", "1GB,2GB",
                "cache.ttl", "1d"));
        assertThat(home.sharedSecret()).matches("[A-Za-z0-9+/]{48}");
        assertThat(home.toString()).doesNotContain(home.sharedSecret());
        assertThat(properties(home, "etc/origins/default.properties")).containsEntry("s3.endpoint", "http://127.0.0.1:9000");
        assertThat(Files.readAllLines(home.path().resolve("etc/jvm.config"))).containsExactly("-XX:+UseG1GC", "-Xmx300m");
        assertThat(directory.resolve("a")).isDirectory();
    }

    @Test
    void testSharedSecretFile()
            throws Exception
    {
        SharedSecretFile file = new SharedSecretFile(directory.resolve("secrets/cache-worker-1"));
        CacheWorkerHome home = CacheWorkerHome.builder(Distribution.ofRepository(repository), directory.resolve("home"))
                .workerPort(9484)
                .httpPort(9485)
                .ramDirectory(directory.resolve("shm"))
                .sharedSecret("first")
                .sharedSecretFile(file)
                .assemble();

        assertThat(properties(home, "etc/config.properties"))
                .containsEntry("internal-communication.shared-secret-file", file.path().toString())
                .doesNotContainKey("internal-communication.shared-secret");
        assertThat(Files.getPosixFilePermissions(file.path())).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(home.sharedSecret()).isEqualTo("first");
        // until the process has read the file again, it accepts only the former one
        file.write(List.of("second", "first"));
        assertThat(home.sharedSecret()).isEqualTo("first");
        file.write(List.of("second"));
        assertThat(home.sharedSecret()).isEqualTo("second");
    }

    @Test
    void testSaysWhatIsNotBuilt()
            throws Exception
    {
        Distribution distribution = Distribution.ofRepository(repository);
        assertThat(distribution.missing()).isEmpty();
        Files.delete(repository.resolve("cache-worker-daemon/target/cache-worker-1/bin/launcher"));
        assertThat(distribution.missing()).singleElement().satisfies(path -> assertThat(path.toString()).contains("cache-worker"));
        assertThatThrownBy(distribution::cacheWorker)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("the cache worker has not been built");
        assertThatThrownBy(() -> Distribution.ofRepository(directory)).hasMessage("not the root of the cachedhive repository: " + directory);
    }

    private void write(String file, String text)
            throws IOException
    {
        Path path = repository.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private static List<String> names(Path path)
            throws IOException
    {
        try (Stream<Path> paths = Files.list(path)) {
            return paths.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static String service(TrinoHome home, String plugin)
            throws IOException
    {
        try (JarFile jar = new JarFile(home.path().resolve("plugin").resolve(plugin).resolve("service.jar").toFile())) {
            return new String(jar.getInputStream(jar.getEntry("META-INF/services/io.trino.spi.Plugin")).readAllBytes(), UTF_8);
        }
    }

    private static Properties properties(ServerHome home, String file)
            throws IOException
    {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(home.path().resolve(file))) {
            properties.load(reader);
        }
        return properties;
    }
}
