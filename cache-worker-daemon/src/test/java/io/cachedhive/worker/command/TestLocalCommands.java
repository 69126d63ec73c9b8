package io.cachedhive.worker.command;

import io.cachedhive.worker.testing.WorkerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

@Timeout(1800)
@Tag("slow")
class TestLocalCommands
{
    private static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";
    private static final long END_SECONDS = 300;

    @TempDir
    private Path directory;

    private Path ramDirectory;
    private Path config;
    private final List<Process> processes = new ArrayList<>();
    private final Map<String, String> properties = new TreeMap<>();

    private record Ended(int code, String output, String error) {}

    @BeforeEach
    void setUp()
            throws IOException
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        Files.createDirectories(directory.resolve("origins"));
        properties.putAll(Map.of(
                "node.environment", "test",
                "http-server.http.port", Integer.toString(WorkerProcess.freePort()),
                "http-server.log.enabled", "false",
                "cache.worker.port", Integer.toString(WorkerProcess.freePort()),
                "cache.worker.socket-path", directory.resolve("w.sock").toString(),
                "cache.ram.directory", ramDirectory.toString(),
                "cache.ram.max-size", "16MB",
                "cache.state-directory", directory.resolve("state").toString(),
                "cache.origins-directory", directory.resolve("origins").toString()));
        // as in a pod: the secret is in the environment
        properties.put("internal-communication.shared-secret", "${ENV:CACHEDHIVE_SHARED_SECRET}");
        config = directory.resolve("config.properties");
        WorkerProcess.write(config, properties);
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

    private Process start()
            throws IOException
    {
        Map<String, String> own = new TreeMap<>(properties);
        own.put("internal-communication.shared-secret", SECRET);
        Path file = directory.resolve("worker.properties");
        WorkerProcess.write(file, own);
        Process process = WorkerProcess.start(file, directory.resolve("worker.log"));
        processes.add(process);
        return process;
    }

    @Test
    void testDrains()
            throws Exception
    {
        Process worker = start();
        Ended refused = run(SECRET + "x", "--address", "127.0.0.1", "--deadline", "1s");
        assertThat(refused.code()).isEqualTo(DrainCommand.EXIT_FAILED);
        assertThat(refused.error()).contains("refuses to drain (HTTP 401)");
        assertThat(worker.isAlive()).isTrue();

        Ended status = status(SECRET);
        assertThat(status.code()).describedAs(status.error()).isEqualTo(StatusCommand.EXIT_ANSWERED);
        assertThat(status.output()).contains("\"state\":\"RUNNING\"", "\"version\":");
        Ended refusedStatus = status(SECRET + "x", "--address", "127.0.0.1");
        assertThat(refusedStatus.code()).isEqualTo(StatusCommand.EXIT_FAILED);
        assertThat(refusedStatus.error()).contains("refuses the request (HTTP 401)");

        // it exits at once, and answers nevertheless
        Ended drained = run(SECRET, "--address", "127.0.0.1", "--deadline", "0s");
        assertThat(drained.code()).describedAs(drained.error()).isEqualTo(DrainCommand.EXIT_DRAINED);
        assertThat(drained.output()).contains("WAITING_FOR_RING", "The cache worker has stopped.");
        assertThat(worker.waitFor(END_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(worker.exitValue()).isZero();

        Ended gone = run(SECRET, "--address", "127.0.0.1", "--deadline", "500ms");
        assertThat(gone.code()).isEqualTo(DrainCommand.EXIT_FAILED);
        assertThat(gone.error()).contains("does not answer", "check that the cache worker runs");
        Ended goneStatus = status(SECRET);
        assertThat(goneStatus.code()).isEqualTo(StatusCommand.EXIT_FAILED);
        assertThat(goneStatus.error()).contains("does not answer", "start the cache worker");
    }

    @Test
    void testWrongUsage()
    {
        for (List<String> args : List.of(List.<String>of(), List.of("--address", "127.0.0.1"), List.of("--address", "127.0.0.1", "--time", "1s"))) {
            Ended ended = run(SECRET, args.toArray(String[]::new));
            assertThat(ended.code()).isEqualTo(DrainCommand.EXIT_USAGE);
            assertThat(ended.error()).contains("usage: cache-worker drain");
        }
        Ended ended = run(SECRET, "--address", "127.0.0.1", "--deadline", "soon");
        assertThat(ended.code()).isEqualTo(DrainCommand.EXIT_USAGE);
        assertThat(ended.error()).contains("correct the options or " + config);
        assertThat(status(SECRET, "--address").code()).isEqualTo(StatusCommand.EXIT_USAGE);
        assertThat(status("short").error()).contains("correct the options or " + config);
        Ended invalid = run("short", "--address", "127.0.0.1", "--deadline", "1s");
        assertThat(invalid.code()).isEqualTo(DrainCommand.EXIT_USAGE);
        assertThat(invalid.error()).contains("internal-communication.shared-secret");
    }

    private Ended run(String secret, String... args)
    {
        return run(DrainCommand::run, secret, args);
    }

    private Ended status(String secret, String... args)
    {
        return run(StatusCommand::run, secret, args);
    }

    private interface Command
    {
        int run(List<String> args, Path config, Map<String, String> environment, PrintStream out, PrintStream err);
    }

    private Ended run(Command command, String secret, String... args)
    {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = command.run(
                List.of(args),
                config,
                Map.of("CACHEDHIVE_SHARED_SECRET", secret),
                new PrintStream(out, true, UTF_8),
                new PrintStream(err, true, UTF_8));
        return new Ended(code, out.toString(UTF_8), err.toString(UTF_8));
    }
}
