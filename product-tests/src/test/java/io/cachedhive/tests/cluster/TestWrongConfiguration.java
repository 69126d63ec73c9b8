package io.cachedhive.tests.cluster;

import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.Cluster;
import io.cachedhive.testing.cluster.ClusterNode;
import io.cachedhive.testing.cluster.FreePorts;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.CacheWorkerHome.SsdDirectory;
import io.cachedhive.testing.cluster.home.Distribution;
import io.cachedhive.testing.cluster.home.ShortLivedJvm;
import io.cachedhive.testing.cluster.home.TrinoHome;
import io.cachedhive.testing.cluster.sql.SqlConnection;
import org.testng.annotations.AfterClass;
import org.testng.annotations.BeforeClass;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import static io.cachedhive.testing.Await.DEADLINE;
import static io.cachedhive.testing.Await.QUERY_PAUSE;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A wrong configuration is told in words that say what is wrong, where, and how to mend it.
 */
@UsesCluster(SharedCluster.ONE_HOST)
@Test(groups = "configuration", singleThreaded = true)
public class TestWrongConfiguration
{
    private static final Duration EXIT_TIMEOUT = Duration.ofMinutes(1);

    private final Distribution distribution = Distribution.find();
    private Path directory;
    // the path of a Unix socket has at most 107 bytes, and this repository may lie deep
    private Path sockets;
    private TestingCluster testing;
    private Cluster cluster;

    @BeforeClass
    public void start()
            throws Exception
    {
        testing = SharedCluster.ONE_HOST.get();
        cluster = testing.cluster();
        directory = Files.createTempDirectory(Path.of("target", "clusters").toAbsolutePath(), "wrong-");
        sockets = Files.createTempDirectory("cachedhive");
    }

    @AfterClass(alwaysRun = true)
    public void stop()
            throws IOException
    {
        if (sockets != null) {
            // a cache worker that cannot start leaves no socket behind
            Files.delete(sockets);
        }
    }

    record Wrong(String what, Consumer<CacheWorkerHome.Builder> setting, List<String> words)
    {
        @Override
        public String toString()
        {
            return what;
        }
    }

    @DataProvider(parallel = true)
    public Object[][] wrongWorkers()
            throws IOException
    {
        ClusterNode running = cluster.cacheWorkers().getFirst();
        CacheWorkerHome runningHome = (CacheWorkerHome) running.home();
        Path runningSsd = running.home().path().resolve("ssd");
        return new Object[][] {
                {new Wrong("unknown property", home -> home.config("cache.ram.max-sise", "1GB"), List.of("cache.ram.max-sise"))},
                {new Wrong(
                        "missing SSD directory",
                        home -> home.config("cache.ssd.directories", "/nowhere/cache").config("cache.ssd.max-sizes", "100MB"),
                        List.of("/nowhere/cache"))},
                {new Wrong(
                        "SSD directory that is not writable",
                        home -> home.config("cache.ssd.directories", "/proc/sys").config("cache.ssd.max-sizes", "100MB"),
                        List.of("/proc/sys", "writ"))},
                {new Wrong("missing RAM directory", home -> home.config("cache.ram.directory", "/nowhere/memory"), List.of("/nowhere/memory", "cache.ram.directory"))},
                {new Wrong(
                        "port in use",
                        home -> home.address(runningHome.address()).workerPort(runningHome.workerPort()),
                        List.of(Integer.toString(runningHome.workerPort()), "cache.worker.port"))},
                {new Wrong(
                        "HTTP port in use",
                        home -> home.address(runningHome.address()).httpPort(runningHome.httpUri().getPort()),
                        List.of(Integer.toString(runningHome.httpUri().getPort())))},
                {new Wrong(
                        "SSD larger than the disk",
                        home -> home.ssdDirectories(List.of(new SsdDirectory(directory.resolve("large"), "900TB"))),
                        List.of("large", "cache.ssd.max-sizes"))},
                {new Wrong("RAM larger than the file system", home -> home.ramMaxSize("7TB"), List.of("cache.ram.max-size"))},
                {new Wrong(
                        "second worker on one directory",
                        home -> home.ssdDirectories(List.of(new SsdDirectory(runningSsd, "512MB"))),
                        List.of(runningSsd.toString()))},
                {new Wrong("unknown group", home -> home.config("cache.worker.socket-group", "no-such-group"), List.of("no-such-group", "cache.worker.socket-group"))},
                {new Wrong("open to the network without a secret", home -> home.address("0.0.0.0").sharedSecret(""), List.of("internal-communication.shared-secret"))},
                {new Wrong(
                        "origin with an unknown property",
                        home -> home.origin("default", Map.of("s3.endpiont", "http://127.0.0.1:1")),
                        List.of("s3.endpiont", "default.properties"))},
        };
    }

    @Test(dataProvider = "wrongWorkers")
    public void testCacheWorkerRefuses(Wrong wrong)
            throws Exception
    {
        Path home = Files.createTempDirectory(directory, "worker-");
        CacheWorkerHome.Builder builder = CacheWorkerHome.builder(distribution, home)
                .workerPort(FreePorts.next())
                .httpPort(FreePorts.next())
                .socketPath(sockets.resolve(home.getFileName() + ".sock"))
                .ramDirectory(Files.createDirectories(home.resolve("memory")))
                .ramMaxSize("16MB")
                .origin("default", cluster.s3().clientProperties());
        builder.jvmOptions(ShortLivedJvm.OPTIONS);
        wrong.setting().accept(builder);
        ClusterNode node = ClusterNode.of(wrong.what(), builder.assemble());
        node.start();
        try {
            Await.until("the end of a cache worker with: " + wrong.what(), EXIT_TIMEOUT, () -> !node.isAlive());
        }
        finally {
            node.kill();
        }
        String log = String.join("\n", node.logTail(40));
        assertThat(node.exitCode().orElseThrow()).as("exit code; log:%n%s", log).isNotZero();
        String message = log.lines()
                .filter(line -> line.contains("Cache worker cannot start: "))
                .filter(line -> wrong.words().stream().allMatch(line::contains))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line with %s in:%n%s".formatted(wrong.words(), log)));
        System.out.printf("%s: %s%n", wrong.what(), message.substring(message.indexOf("Cache worker cannot start: ")));
        assertThat(log.lines().filter(line -> line.startsWith("\tat ")).count()).as("lines of stack trace:%n%s", log).isLessThan(10);
    }

    @Test
    public void testTrinoRefusesSecondCache()
            throws Exception
    {
        TrinoHome home = TrinoHome.builder(distribution, Files.createTempDirectory(directory, "trino-"))
                .coordinator()
                .httpPort(FreePorts.next())
                .plugin(TrinoHome.Plugin.CACHEDHIVE)
                .catalog("cachedhive", Map.of(
                        "connector.name", "cachedhive",
                        "hive.metastore", "file",
                        "hive.metastore.catalog.dir", Cluster.WAREHOUSE,
                        "fs.cache.enabled", "true"))
                .jvmOptions(ShortLivedJvm.OPTIONS)
                .assemble();
        ClusterNode node = ClusterNode.of("trino with fs.cache.enabled", home);
        node.start();
        try {
            Await.until("the end of a Trino server with fs.cache.enabled=true", Duration.ofMinutes(3), () -> !node.isAlive());
        }
        finally {
            node.kill();
        }
        String log = String.join("\n", node.logTail(200));
        assertThat(log).contains("fs.cache.enabled").contains("docs/operations/migrate.md");
        System.out.printf("fs.cache.enabled: %s%n", log.lines().filter(line -> line.contains("docs/operations/migrate.md")).findFirst().orElseThrow());
    }

    @Test
    public void testUnknownOrigin()
            throws Exception
    {
        try (SqlConnection connection = testing.connect(SharedCluster.MISSING_ORIGIN, "configuration")) {
            connection.query("CREATE SCHEMA configuration");
            connection.query("CREATE TABLE unknown_origin AS SELECT * FROM tpch.tiny.orders");
            List<List<Object>> expected = connection.query("SELECT count(*), sum(orderkey) FROM hive.configuration.unknown_origin").rows();
            assertThat(connection.query("SELECT count(*), sum(orderkey) FROM unknown_origin").rows()).isEqualTo(expected);
            Await.untilAsserted("stats.problem names the origin", DEADLINE, QUERY_PAUSE, () -> {
                Object problem = connection.query("SELECT problem FROM cache.stats").onlyValue();
                assertThat((String) problem).contains("missing");
            });
            System.out.println("unknown origin: " + connection.query("SELECT problem FROM cache.stats").onlyValue());
        }
    }

    @Test(dependsOnMethods = {"testUnknownOrigin", "testCacheWorkerRefuses"})
    public void testNoCacheWorker()
            throws Exception
    {
        ClusterNode worker = cluster.workers().getFirst();
        cluster.cacheWorkers().getFirst().stop();
        cluster.coordinator().stop();
        worker.stop();
        long from = Files.readAllLines(worker.logFile()).size();
        cluster.coordinator().start();
        worker.start();
        cluster.coordinator().awaitReady();
        worker.awaitReady();
        cluster.awaitWorkers(1, Duration.ofMinutes(2));
        try (SqlConnection connection = testing.connect("cachedhive", "configuration")) {
            List<List<Object>> expected = connection.query("SELECT count(*), sum(orderkey) FROM hive.configuration.unknown_origin").rows();
            for (int i = 0; i < 5; i++) {
                assertThat(connection.query("SELECT count(*), sum(orderkey) FROM unknown_origin").rows()).isEqualTo(expected);
            }
            String[] problem = new String[1];
            Await.until("stats.problem says that no cache worker answers", DEADLINE, QUERY_PAUSE, () -> {
                problem[0] = (String) connection.query("SELECT coalesce(max(problem), '') FROM cachedhive.cache.stats").onlyValue();
                return problem[0].contains(worker.address());
            });
            System.out.println("no cache worker: " + problem[0]);
        }
        List<String> said = Files.readAllLines(worker.logFile()).stream()
                .skip(from)
                .filter(line -> line.contains("WARN") && line.contains("cache worker"))
                .toList();
        // once for each of the two catalogs
        assertThat(said).as("log lines about the cache worker").hasSizeBetween(1, 2);
        System.out.println("no cache worker, in the log: " + said.getFirst());
    }
}
