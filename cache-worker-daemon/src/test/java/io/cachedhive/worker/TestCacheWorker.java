package io.cachedhive.worker;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.security.ProvingHttpClient;
import io.cachedhive.protocol.ssd.SsdFormat;
import io.cachedhive.protocol.wire.PinMessage.GetPins;
import io.cachedhive.protocol.wire.PinMessage.Pins;
import io.cachedhive.protocol.wire.PolicyMessage.TableQuota;
import io.cachedhive.protocol.wire.StatusMessage.Ping;
import io.cachedhive.protocol.wire.StatusMessage.Pong;
import io.cachedhive.testing.Await;
import io.cachedhive.worker.testing.WireClient;
import io.cachedhive.worker.testing.WorkerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The process itself, as an operator sees it: what it says when it cannot start, and that it leaves nothing behind.
 */
@Timeout(1800)
@Tag("slow")
class TestCacheWorker
{
    private static final int CANNOT_START = 100;
    // on a busy machine the start of a JVM alone takes minutes
    private static final int END_SECONDS = 600;
    private static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";

    @TempDir
    private Path directory;

    private Path ramDirectory;
    private final Map<String, String> config = new TreeMap<>();
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void setUp()
            throws IOException
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        Files.createDirectories(directory.resolve("origins"));
        config.putAll(Map.of(
                "node.environment", "test",
                "http-server.http.port", Integer.toString(WorkerProcess.freePort()),
                "http-server.log.enabled", "false",
                "cache.worker.port", Integer.toString(WorkerProcess.freePort()),
                "internal-communication.shared-secret", SECRET,
                "cache.worker.socket-path", directory.resolve("w.sock").toString(),
                "cache.ram.directory", ramDirectory.toString(),
                "cache.ram.max-size", "16MB",
                "cache.state-directory", directory.resolve("state").toString(),
                "cache.origins-directory", directory.resolve("origins").toString()));
    }

    @AfterEach
    void tearDown()
            throws IOException, InterruptedException
    {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        try (Stream<Path> files = Files.list(ramDirectory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(ramDirectory);
    }

    private Process launch(String name, String... options)
            throws IOException
    {
        Path file = directory.resolve(name + ".properties");
        StringBuilder text = new StringBuilder();
        config.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
        Files.writeString(file, text);
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dconfig=" + file,
                "-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(options));
        command.add(CacheWorker.class.getName());
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile())
                .start();
        processes.add(process);
        return process;
    }

    private String output(String name)
            throws IOException
    {
        return Files.readString(directory.resolve(name + ".log"));
    }

    private void awaitServing(Process process, String name)
    {
        Await.until("the worker serves", Duration.ofSeconds(END_SECONDS), () -> {
            if (!process.isAlive()) {
                throw new AssertionError("the worker ended: " + output(name));
            }
            return output(name).contains("CACHE WORKER STARTED");
        });
    }

    private void assertRefused(String... messages)
            throws Exception
    {
        Process process = launch("refused");
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as(() -> "the worker ends").isTrue();
        String output = output("refused");
        assertThat(process.exitValue()).as(output).isEqualTo(CANNOT_START);
        assertThat(output).doesNotContain("\tat ").doesNotContain("Exception");
        List<String> reasons = output.lines().filter(line -> line.contains("Cache worker cannot start: ")).toList();
        assertThat(reasons).as(output).hasSize(1);
        for (String message : messages) {
            assertThat(reasons.getFirst()).contains(message);
        }
        // nothing is left
        try (Stream<Path> files = Files.list(ramDirectory)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void testReasonIsAlsoToldToTheLauncher()
            throws Exception
    {
        config.put("cache.ram.max-size", "much");
        Path log = directory.resolve("var/log/server.log");

        // what bin/launcher sets in the background: its own log has the standard error
        Process process = launch("background", "-Dlog.output-file=" + log, "-Dlog.enable-console=false");
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as(() -> "the process ends").isTrue();

        assertThat(output("background").lines()).filteredOn(line -> line.startsWith("Cache worker cannot start: ")).singleElement().asString().contains("cache.ram.max-size");
        assertThat(log).content().contains("Cache worker cannot start: ");
    }

    @Test
    void testStartAndStop()
            throws Exception
    {
        Process process = launch("worker");
        awaitServing(process, "worker");
        try (WireClient peer = WireClient.connect(UnixDomainSocketAddress.of(directory.resolve("w.sock")), Optional.of(SECRET), "", List.of())) {
            Pong pong = (Pong) peer.ask(new Ping());
            assertThat(pong.state()).isEqualTo("RUNNING");
            assertThat(get("/v1/status")).contains("\"worker\":\"" + pong.worker() + "\"").contains("\"state\":\"RUNNING\"").contains("\"quotas\":[]");
            peer.send(new TableQuota("schema.table", 1000));
            assertThat(peer.ask(new Ping())).isInstanceOf(Pong.class);
            assertThat(get("/v1/status")).contains("\"quotas\":[{\"table\":\"schema.table\",\"quota_bytes\":1000,\"share_bytes\":1000,\"ram_bytes\":0,\"ssd_bytes\":0}]");
            assertThat(get("/v1/stats")).contains("\"gauges\":{").contains("\"accepted_connections\":1").contains("\"active_requests\":0").contains("\"referenced_blocks\":0");
            // it has no SSD directories
            assertThat(get("/v1/ssd-format")).isEqualTo("{\"newest\":%s,\"directories\":[]}".formatted(SsdFormat.CURRENT.newest()));
            assertThat(ask("POST", "/v1/ssd-format").body()).isEqualTo(get("/v1/ssd-format"));
            assertThat(get("/v1/stats")).contains("\"expired_blocks\":0").contains("\"ssd_writes_rejected_not_admitted\":0").contains("\"ssd_writes_rejected_no_space\":0");
            assertThat(get("/metrics")).contains("cachedhive_ram_capacity_bytes")
                    .contains("cachedhive_expired_blocks_total")
                    .contains("cachedhive_ssd_writes_rejected_total{cause=\"not_admitted\"}")
                    .contains("cachedhive_ssd_writes_rejected_total{cause=\"queue_full\"}")
                    .contains("cachedhive_ssd_writes_rejected_total{cause=\"offline\"}")
                    .endsWith("# EOF\n");
        }
        assertThat(directory.resolve("w.sock")).exists();

        // SIGTERM
        process.destroy();
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(directory.resolve("w.sock")).doesNotExist();
        try (Stream<Path> files = Files.list(ramDirectory)) {
            assertThat(files).isEmpty();
        }
    }

    private String get(String path)
            throws Exception
    {
        HttpResponse<String> response = ask("GET", path);
        assertThat(response.statusCode()).isEqualTo(200);
        return response.body();
    }

    private HttpResponse<String> ask(String method, String path)
            throws Exception
    {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + config.get("http-server.http.port") + path);
            HttpRequest request = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody()).build();
            return ProvingHttpClient.sendAsync(client, request, Optional.of(SECRET), HttpResponse.BodyHandlers.ofString()).get();
        }
    }

    @Test
    void testDrain()
            throws Exception
    {
        Process process = launch("drained");
        awaitServing(process, "drained");
        assertThat(get("/v1/drain")).contains("\"state\":\"NOT_LEAVING\"");

        for (String deadline : List.of("soon", "-1s", "10", "1000d")) {
            HttpResponse<String> refused = ask("POST", "/v1/drain?deadline=" + deadline);
            assertThat(refused.statusCode()).as(deadline).isEqualTo(400);
            assertThat(refused.body()).startsWith("deadline=" + deadline + " is ").endsWith("\n");
        }

        assertThat(ask("POST", "/v1/drain").body()).contains("\"state\":\"WAITING_FOR_RING\"");
        assertThat(get("/v1/status")).contains("\"state\":\"DRAINING\"");
        assertThat(ask("DELETE", "/v1/drain").body()).contains("\"state\":\"NOT_LEAVING\"");
        assertThat(get("/v1/status")).contains("\"state\":\"RUNNING\"");

        // it leaves at once, and answers nevertheless
        HttpResponse<String> drained = ask("POST", "/v1/drain?deadline=0s");
        assertThat(drained.statusCode()).isEqualTo(200);
        assertThat(drained.body()).contains("\"state\":\"WAITING_FOR_RING\"");
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as("the process ends").isTrue();
        assertThat(process.exitValue()).isZero();
        assertThat(directory.resolve("w.sock")).doesNotExist();
        try (Stream<Path> files = Files.list(ramDirectory)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void testKilledWorkerIsReplaced()
            throws Exception
    {
        Process first = launch("first");
        awaitServing(first, "first");
        try (WireClient peer = WireClient.connect(UnixDomainSocketAddress.of(directory.resolve("w.sock")), Optional.of(SECRET), "", List.of())) {
            peer.send(new TableQuota("schema.table", 1000));
            Await.until("the quota is written down", () -> Files.exists(directory.resolve("state").resolve("table-quotas")));
        }
        first.destroyForcibly().waitFor();
        assertThat(directory.resolve("w.sock")).exists();

        Process second = launch("second");
        awaitServing(second, "second");
        try (Stream<Path> files = Files.list(ramDirectory)) {
            assertThat(files).as("the memory of the killed one is given back").hasSize(1);
        }
        assertThat(get("/v1/status")).contains("\"quotas\":[{\"table\":\"schema.table\",\"quota_bytes\":1000,");
    }

    @Test
    void testSecondWorker()
            throws Exception
    {
        Process first = launch("first");
        awaitServing(first, "first");
        String socket = config.get("cache.worker.socket-path");
        String port = config.get("cache.worker.port");

        // each of what two workers cannot share, one after the other
        config.put("http-server.http.port", Integer.toString(WorkerProcess.freePort()));
        config.put("cache.worker.port", Integer.toString(WorkerProcess.freePort()));
        assertRefusedBeside("cache.worker.socket-path=" + socket, "another process answers on this socket");
        config.put("cache.worker.socket-path", directory.resolve("other.sock").toString());
        assertRefusedBeside(directory.resolve("state").toString());
        config.put("cache.worker.port", port);
        assertRefusedBeside("cache.worker.port=" + port, "stop what listens there, or choose another port");

        assertThat(first.isAlive()).isTrue();
        assertThat(Path.of(socket)).exists();
        assertThat(directory.resolve("other.sock")).doesNotExist();
    }

    private void assertRefusedBeside(String... messages)
            throws Exception
    {
        Process process = launch("refused");
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        String output = output("refused");
        assertThat(process.exitValue()).as(output).isEqualTo(CANNOT_START);
        assertThat(output).doesNotContain("\tat ");
        assertThat(output.lines().filter(line -> line.contains("Cache worker cannot start: "))).singleElement().asString().contains(messages);
    }

    @Test
    void testHttpPortInUse()
            throws Exception
    {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            config.put("http-server.http.port", Integer.toString(taken.getLocalPort()));
            assertRefused("http-server.http.port or http-server.https.port: cannot listen on 127.0.0.1:" + taken.getLocalPort(), "choose another port");
        }
    }

    @Test
    void testUnknownProperty()
            throws Exception
    {
        config.put("cache.ram.maxsize", "1GB");
        assertRefused("refused.properties", "'cache.ram.maxsize' was not used", "cache.ram.max-size");
    }

    @Test
    void testSecretsThatAreRefused()
            throws Exception
    {
        config.put("internal-communication.shared-secret", "abc");
        assertRefused("internal-communication.shared-secret has 3 characters, at least 32 are required");

        config.put("internal-communication.shared-secret", "replace-with-a-secret-of-your-own");
        assertRefused("internal-communication.shared-secret is a sample from the documentation");

        config.remove("internal-communication.shared-secret");
        Path file = Files.writeString(directory.resolve("secret"), SECRET);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        config.put("internal-communication.shared-secret-file", file.toString());
        assertRefused(file.toString(), "is readable or writable by other users");
    }

    @Test
    void testNoPortWithoutSecret()
            throws Exception
    {
        config.remove("internal-communication.shared-secret");
        Process process = launch("local");
        awaitServing(process, "local");
        assertThat(output("local")).contains("listens on %s and no TCP port, because internal-communication.shared-secret is not set".formatted(directory.resolve("w.sock")));
        InetSocketAddress port = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(config.get("cache.worker.port")));
        assertThatThrownBy(() -> SocketChannel.open(port)).isInstanceOf(ConnectException.class);
        try (WireClient peer = WireClient.connect(UnixDomainSocketAddress.of(directory.resolve("w.sock")), Optional.empty(), "", List.of())) {
            assertThat(peer.ask(new GetPins(new Digest128(0, 0), new Digest128(0, 0), false))).isInstanceOf(Pins.class);
        }
    }

    @Test
    void testAddressForEverybodyWithoutSecret()
            throws Exception
    {
        config.remove("internal-communication.shared-secret");
        config.put("node.bind-ip", "0.0.0.0");
        assertRefused("node.bind-ip=0.0.0.0 is not a loopback address", "set internal-communication.shared-secret");
    }

    @Test
    void testUnknownOriginProperty()
            throws Exception
    {
        Files.writeString(directory.resolve("origins").resolve("lake.properties"), "s3.region=us-east-1\ns3.endpont=http://127.0.0.1\n");
        assertRefused("lake.properties", "s3.endpont is unknown");
        assertThat(directory.resolve("w.sock")).doesNotExist();
    }

    @Test
    void testRamDirectoryMissing()
            throws Exception
    {
        config.put("cache.ram.directory", "/dev/shm/no-such-directory-cachedhive/memory");
        assertRefused("cache.ram.directory", "/dev/shm/no-such-directory-cachedhive/memory");
        assertThat(directory.resolve("w.sock")).doesNotExist();
    }

    @Test
    void testStateDirectoryCannotBeMade()
            throws Exception
    {
        Files.writeString(directory.resolve("file"), "");
        config.put("cache.state-directory", directory.resolve("file").resolve("state").toString());
        // not the word "Exception", but what the system said
        Process process = launch("refused");
        assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(CANNOT_START);
        assertThat(output("refused")).contains("Cache worker cannot start: cache.state-directory=" + directory.resolve("file").resolve("state")).doesNotContain("\tat ");
    }

    @Test
    void testUnknownGroup()
            throws Exception
    {
        config.put("cache.worker.socket-group", "no-such-group-cachedhive");
        assertRefused("cache.worker.socket-group=no-such-group-cachedhive");
    }
}
