package io.cachedhive.worker;

import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.wire.CounterNames;
import io.cachedhive.protocol.wire.HandshakeMessage.NamedOrigin;
import io.cachedhive.protocol.wire.StatusMessage.GetStats;
import io.cachedhive.protocol.wire.StatusMessage.Stats;
import io.cachedhive.testing.Await;
import io.cachedhive.testing.cluster.s3.S3Hold;
import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.worker.testing.Lake;
import io.cachedhive.worker.testing.Lake.StoredFile;
import io.cachedhive.worker.testing.ReaderProcess;
import io.cachedhive.worker.testing.WireClient;
import io.cachedhive.worker.testing.WorkerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Readers in several JVMs that miss the same block at the same time, a cache worker in a process of its own, and what the object store was asked.
 */
@Timeout(400)
@Tag("slow")
class TestOneGetForAllReaders
{
    private static final int PROCESSES = 2;
    private static final int READERS = 4;

    @TempDir
    private Path directory;

    private Path ramDirectory;
    private Lake lake;
    private final List<Process> processes = new ArrayList<>();

    @BeforeEach
    void setUp()
            throws IOException
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        lake = Lake.start(directory.resolve("s3"));
    }

    @AfterEach
    void tearDown()
            throws IOException, InterruptedException
    {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
        lake.close();
        try (Stream<Path> files = Files.list(ramDirectory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(ramDirectory);
    }

    @Test
    void testOneGet()
            throws Exception
    {
        StoredFile stored = lake.putSettled("table/file", 900_000, 1);
        long mark = lake.s3().log().mark();
        Path socket = startWorker();
        List<Process> readers = new ArrayList<>();
        for (int process = 0; process < PROCESSES; process++) {
            readers.add(startReaders("readers" + process, socket, stored.file()));
        }
        for (int process = 0; process < PROCESSES; process++) {
            awaitOutput(readers.get(process), "readers" + process, ReaderProcess.READY);
        }
        try (WireClient client = WireClient.connect(UnixDomainSocketAddress.of(socket), Optional.empty(), "test", List.of(new NamedOrigin("default", lake.originId())));
                S3Hold _ = lake.s3().hold(S3Hold.Rule.gets(Lake.BUCKET, "table/"))) {
            for (Process process : readers) {
                try (OutputStream input = process.getOutputStream()) {
                    input.write('\n');
                }
            }
            Await.until("all readers wait for the block", () -> gauge(client, CounterNames.ACTIVE_REQUESTS) == PROCESSES * READERS);
        }
        for (int process = 0; process < PROCESSES; process++) {
            String name = "readers" + process;
            assertThat(readers.get(process).waitFor()).as(() -> output(name)).isZero();
            assertThat(output(name).lines().filter(line -> line.startsWith(ReaderProcess.HASH)))
                    .isEqualTo(Collections.nCopies(READERS, ReaderProcess.HASH + Arrays.hashCode(stored.bytes())));
        }
        assertThat(lake.getsSince(mark)).extracting(S3Request::key).containsExactly(Optional.of("table/file"));
        assertThat(lake.headsSince(mark)).isZero();
    }

    private static long gauge(WireClient client, String name)
    {
        return ((Stats) client.ask(new GetStats())).gauges().get(name);
    }

    private Path startWorker()
            throws IOException
    {
        Path socket = directory.resolve("w.sock");
        Path origins = Files.createDirectories(directory.resolve("origins"));
        write(origins.resolve("default.properties"), lake.s3().clientProperties());
        Path config = directory.resolve("worker.properties");
        write(config, Map.of(
                "node.environment", "test",
                "http-server.http.port", Integer.toString(WorkerProcess.freePort()),
                "http-server.log.enabled", "false",
                "cache.worker.port", Integer.toString(WorkerProcess.freePort()),
                "cache.worker.socket-path", socket.toString(),
                "cache.ram.directory", ramDirectory.toString(),
                "cache.ram.max-size", "16MB",
                "cache.state-directory", directory.resolve("state").toString(),
                "cache.origins-directory", origins.toString()));
        Process worker = start("worker", List.of("-Dconfig=" + config), CacheWorker.class, List.of());
        awaitOutput(worker, "worker", "CACHE WORKER STARTED");
        return socket;
    }

    private Process startReaders(String name, Path socket, FileVersion file)
            throws IOException
    {
        return start(name, List.of(), ReaderProcess.class, List.of(
                socket.toString(),
                lake.s3().endpoint().toString(),
                file.location(),
                Long.toString(file.length()),
                Long.toString(file.lastModifiedMillis()),
                Integer.toString(READERS)));
    }

    private static void write(Path file, Map<String, String> properties)
            throws IOException
    {
        StringBuilder text = new StringBuilder();
        properties.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
        Files.writeString(file, text);
    }

    private Process start(String name, List<String> options, Class<?> main, List<String> arguments)
            throws IOException
    {
        List<String> command = new ArrayList<>(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + ".log").toFile())
                .start();
        processes.add(process);
        return process;
    }

    private void awaitOutput(Process process, String name, String text)
    {
        Await.until("%s says %s".formatted(name, text), () -> {
            if (!process.isAlive()) {
                throw new AssertionError("%s ended: %s".formatted(name, output(name)));
            }
            return output(name).contains(text);
        });
    }

    private String output(String name)
    {
        try {
            return Files.readString(directory.resolve(name + ".log"));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
