package io.cachedhive.admin;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

class TestTopCommand
{
    // of the command's clock, between two of its refreshes
    private static final Duration REFRESH = Duration.ofSeconds(4);

    @TempDir
    private Path directory;

    // by the address of the cache worker
    private final Map<String, HttpServer> servers = new TreeMap<>();

    @AfterEach
    void stopServers()
    {
        servers.values().forEach(server -> server.stop(0));
    }

    /**
     * A cache worker that answers with one text after the other.
     */
    private void worker(String address, String... answers)
            throws IOException
    {
        AtomicInteger requests = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(address, 0), 0);
        server.createContext("/v1/stats", exchange -> {
            try (exchange) {
                int request = requests.getAndIncrement();
                byte[] bytes = answers[Math.min(request, answers.length - 1)].getBytes(UTF_8);
                exchange.sendResponseHeaders(bytes.length == 0 ? 500 : 200, bytes.length == 0 ? -1 : bytes.length);
                exchange.getResponseBody().write(bytes);
            }
        });
        server.start();
        servers.put(address, server);
    }

    private static String stats(long ram, long ssd, long nonLocal, long remote, long bypass)
    {
        return "{\"counters\": {\"ram_hit_bytes\": %s, \"ssd_hit_bytes\": %s, \"non_local_hit_bytes\": %s, \"remote_read_bytes\": %s, \"bypass_bytes\": %s}}"
                .formatted(ram, ssd, nonLocal, remote, bypass);
    }

    private String host(String address)
    {
        return address + ":" + servers.get(address).getAddress().getPort();
    }

    private record Outcome(int code, List<List<String>> rows) {}

    private Outcome top(int refreshes)
            throws IOException
    {
        String groups = servers.entrySet().stream()
                .map(server -> "  group-%1$s:\n    hosts: [%1$s]\n    http-port: %2$s\n".formatted(server.getKey(), server.getValue().getAddress().getPort()))
                .collect(joining());
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [%s]\ngroups:\n%s".formatted(String.join(", ", servers.keySet()), groups));
        AtomicLong nanos = new AtomicLong();
        StringWriter out = new StringWriter();
        TopCommand command = new TopCommand(
                new Console(new PrintWriter(out), new PrintWriter(new StringWriter()), false),
                () -> nanos.getAndAdd(REFRESH.toNanos()));
        int code = new CommandLine(command)
                .registerConverter(Duration.class, new DurationConverter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute("--config", file.toString(), "--interval", "1ms", "--count", Integer.toString(refreshes));
        return new Outcome(code, out.toString().lines().map(line -> Arrays.asList(line.strip().split(" {2,}"))).toList());
    }

    @Test
    void testBytesPerSecond()
            throws IOException
    {
        worker("127.0.0.2", stats(1000, 2000, 3000, 4000, 5000), stats(1000 + (4 << 20), 2000 + (8 << 20), 3000, 4004, 5000), stats(5 << 20, 9 << 20, 3000, 4004, 9000));
        worker("127.0.0.3", stats(0, 0, 0, 0, 0), stats(0, 0, 4 << 10, 0, 0));
        assertThat(top(2)).isEqualTo(new Outcome(ExitCode.OK, List.of(
                List.of("HOST", "RAM HITS/S", "SSD HITS/S", "NON-LOCAL/S", "REMOTE/S", "BYPASS/S"),
                List.of(host("127.0.0.2"), "1.0MB", "2.0MB", "0B", "1B", "0B"),
                List.of(host("127.0.0.3"), "0B", "0B", "1.0kB", "0B", "0B"),
                List.of("HOST", "RAM HITS/S", "SSD HITS/S", "NON-LOCAL/S", "REMOTE/S", "BYPASS/S"),
                List.of(host("127.0.0.2"), "255.8kB", "255.5kB", "0B", "0B", "1000B"),
                List.of(host("127.0.0.3"), "0B", "0B", "0B", "0B", "0B"))));
    }

    /**
     * A cache worker that has lost its counts, one that does not report a counter, and one that does not answer: their bytes are unknown.
     */
    @Test
    void testUnknownBytes()
            throws IOException
    {
        worker("127.0.0.2", stats(1000, 2000, 3000, 4000, 5000), stats(100, 2000, 3000, 4000, 5000));
        worker("127.0.0.3", "{\"ram_hit_bytes\": 0, \"bypass_bytes\": 0}", "{\"ram_hit_bytes\": 40, \"bypass_bytes\": \"8\"}");
        worker("127.0.0.4", stats(0, 0, 0, 0, 0), "");
        Outcome outcome = top(1);
        assertThat(outcome.rows().subList(1, 4)).containsExactly(
                List.of(host("127.0.0.2"), "-", "0B", "0B", "0B", "0B"),
                List.of(host("127.0.0.3"), "10B", "-", "-", "-", "-"),
                List.of(host("127.0.0.4"), "-", "-", "-", "-", "-"));
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }
}
