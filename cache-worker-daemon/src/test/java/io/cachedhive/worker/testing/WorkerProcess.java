package io.cachedhive.worker.testing;

import io.cachedhive.testing.Await;
import io.cachedhive.worker.CacheWorker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A cache worker in a process of its own.
 */
public final class WorkerProcess
{
    // it serves or ends; on a machine with many builds the start of a JVM alone takes minutes
    private static final Duration START_DEADLINE = Duration.ofMinutes(10);

    // of a JVM on a machine that is busy with other tests
    private static final Set<Integer> GIVEN_PORTS = ConcurrentHashMap.newKeySet();

    private WorkerProcess() {}

    /**
     * Returns when it serves.
     *
     * @param config its properties file
     * @param log of what it prints
     * @param wrapper a command that runs it; none for the worker alone
     */
    public static Process start(Path config, Path log, String... wrapper)
            throws IOException
    {
        List<String> command = new ArrayList<>(List.of(wrapper));
        command.addAll(List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dconfig=" + config,
                "-cp", System.getProperty("java.class.path"),
                CacheWorker.class.getName()));
        Process worker = new ProcessBuilder(command)
                .directory(config.getParent().toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            Await.until("the worker serves", START_DEADLINE, () -> {
                String output = read(log);
                if (!worker.isAlive()) {
                    throw new AssertionError("the worker ended: " + output);
                }
                return output.contains("CACHE WORKER STARTED");
            });
        }
        catch (Throwable e) {
            worker.descendants().forEach(ProcessHandle::destroyForcibly);
            worker.destroyForcibly();
            throw e;
        }
        return worker;
    }

    public static void write(Path file, Map<String, String> properties)
            throws IOException
    {
        StringBuilder text = new StringBuilder();
        properties.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
        Files.writeString(file, text);
    }

    /**
     * Below the range from which Linux takes the ports of outgoing connections: until the worker listens there, nobody else is given it. Another one
     * each time.
     */
    public static int freePort()
    {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 32_000);
            try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                if (GIVEN_PORTS.add(port)) {
                    return port;
                }
            }
            catch (IOException _) {
                // somebody listens there
            }
        }
    }

    private static String read(Path file)
    {
        try {
            return Files.readString(file);
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
