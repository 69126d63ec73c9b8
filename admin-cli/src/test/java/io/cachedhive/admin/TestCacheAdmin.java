package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cachedhive.protocol.security.HttpChallenges;
import io.cachedhive.protocol.security.HttpProof.Request;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("slow")
class TestCacheAdmin
{
    private static final String SECRET = "9vQ2LrT7xWb4NcYk8HsZp3MdGf6JaEu1";
    private static final String STATUS = """
            {"worker": "w1", "state": "RUNNING", "version": "1-SNAPSHOT", "uptime_millis": 3723000, "newest_ring": "0123456789abcdef",
             "gauges": {"ram_used_bytes": 536870912, "ram_capacity_bytes": 1073741824, "ssd_used_bytes": 0, "ssd_capacity_bytes": 107374182400}}
            """;

    private static final HttpChallenges CHALLENGES = new HttpChallenges("w1", new SecureRandom(), System::nanoTime, System::currentTimeMillis);

    private final List<Closeable> servers = new ArrayList<>();

    @TempDir
    private Path directory;

    @AfterEach
    void stopServers()
            throws IOException
    {
        for (Closeable server : servers) {
            server.close();
        }
    }

    @Test
    void testStatusTable()
            throws IOException
    {
        String first = worker("/v1/status", 200, STATUS);
        String second = worker("/v1/status", 200, STATUS.replace("w1", "w2").replace("RUNNING", "DRAINING")
                .replace("\"uptime", "\"problem\": \"/mnt/a is full: make room.\", \"uptime"));

        Outcome outcome = run("status", "--hosts", first + "," + second);

        assertThat(outcome.error()).isEmpty();
        assertThat(outcome.out().lines().map(line -> line.replaceAll(" {2,}", "  "))).containsExactly(
                "HOST  STATE  WORKER  VERSION  UP  RAM USED  OF  SSD USED  OF  RING  PROBLEM",
                first + "  RUNNING  w1  1-SNAPSHOT  1h 2m  512.0MB  1.0GB  0B  100.0GB  0123456789abcdef  -",
                second + "  DRAINING  w2  1-SNAPSHOT  1h 2m  512.0MB  1.0GB  0B  100.0GB  0123456789abcdef  /mnt/a is full: make room.");
        assertThat(outcome.code()).isEqualTo(ExitCode.OK);
    }

    @Test
    void testColumnsAreAligned()
            throws IOException
    {
        String first = worker("/v1/status", 200, STATUS);
        String second = worker("/v1/status", 200, STATUS.replace("w1", "worker-with-a-longer-name").replace("536870912", "7"));

        List<String> lines = run("status", "--hosts", first + "," + second).out().lines().toList();

        int version = lines.getFirst().indexOf("VERSION");
        assertThat(lines.subList(1, 3)).allSatisfy(line -> assertThat(line.substring(version)).startsWith("1-SNAPSHOT"));
        int ramEnd = lines.getFirst().indexOf("RAM USED") + "RAM USED".length();
        assertThat(lines.subList(1, 3)).allSatisfy(line -> assertThat(line.substring(0, ramEnd)).endsWith("B"));
    }

    @Test
    void testJson()
            throws IOException
    {
        String good = worker("/v1/status", 200, STATUS);
        String bad = worker("/v1/status", 500, "oops");

        Outcome outcome = run("status", "--output", "json", "--hosts", good + "," + bad);

        List<String> lines = outcome.out().lines().toList();
        assertThat(lines).hasSize(2);
        JsonNode answered = new ObjectMapper().readTree(lines.getFirst());
        assertThat(answered.get("host").asText()).isEqualTo(good);
        assertThat(answered.get("answer")).isEqualTo(new ObjectMapper().readTree(STATUS));
        JsonNode failed = new ObjectMapper().readTree(lines.get(1));
        assertThat(failed.get("host").asText()).isEqualTo(bad);
        assertThat(failed.get("problem").asText()).contains("var/log/server.log");
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    @Test
    void testHostsAreAskedAtOnce()
            throws IOException
    {
        // each answers only when all have been asked
        CountDownLatch asked = new CountDownLatch(5);
        List<String> hosts = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            hosts.add(server("/v1/status", exchange -> {
                asked.countDown();
                try {
                    asked.await();
                }
                catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                }
                respond(exchange, 200, STATUS);
            }));
        }

        Outcome outcome = run("status", "--hosts", String.join(",", hosts));

        assertThat(outcome.error()).isEmpty();
        assertThat(outcome.code()).isEqualTo(ExitCode.OK);
    }

    @Test
    void testNobodyListens()
            throws IOException
    {
        String good = worker("/v1/status", 200, STATUS);
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }

        Outcome outcome = run("status", "--hosts", "127.0.0.1:%s,%s".formatted(port, good));

        assertThat(outcome.out().lines().map(line -> line.replaceAll(" {2,}", "  ")))
                .contains("127.0.0.1:%s  UNREACHABLE".formatted(port))
                .anyMatch(line -> line.startsWith(good + "  RUNNING"));
        assertThat(outcome.error().lines()).singleElement().asString()
                .startsWith("cache-admin: Nothing listens at 127.0.0.1:%s: start the cache worker there".formatted(port));
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    @Test
    void testSilentHost()
            throws IOException
    {
        // the kernel accepts, nobody ever answers
        ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        servers.add(silent);

        Outcome outcome = run("status", "--timeout", "3s", "--hosts", "127.0.0.1:" + silent.getLocalPort());

        assertThat(outcome.error().lines()).singleElement().asString().contains("does not answer within 3000 ms").contains("--timeout");
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    @Test
    void testBodyThatDrips()
            throws IOException
    {
        ServerSocket dripping = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        servers.add(dripping);
        Thread.ofPlatform().daemon().start(() -> {
            try (Socket socket = dripping.accept()) {
                socket.getInputStream().read(new byte[4096]);
                socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{".getBytes(UTF_8));
                socket.getOutputStream().flush();
                // until the other end gives up
                socket.getInputStream().read();
            }
            catch (IOException _) {
                // likewise
            }
        });

        Outcome outcome = run("status", "--timeout", "3s", "--hosts", "127.0.0.1:" + dripping.getLocalPort());

        assertThat(outcome.error()).contains("does not answer within 3000 ms");
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    @Test
    void testUnknownName()
    {
        // RFC 2606 keeps this name free
        Outcome outcome = run("status", "--timeout", "2m", "--hosts", "worker.invalid");

        assertThat(outcome.error().lines()).singleElement().asString().contains("The name worker.invalid is unknown");
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "404 | not found  | is not the HTTP API of a cache worker",
            "200 | <html>     | is not the HTTP API of a cache worker",
            "200 | [1]        | is not the HTTP API of a cache worker",
            "302 | x          | is not the HTTP API of a cache worker",
            "401 | {}         | requires the shared secret (HTTP 401): name a file",
            "403 | {}         | requires the shared secret (HTTP 403): name a file",
            "503 | {}         | failed to answer /v1/status (HTTP 503)",
    })
    void testStrangeAnswer(int status, String body, String problem)
            throws IOException
    {
        Outcome outcome = run("status", "--hosts", worker("/v1/status", status, body));

        assertThat(outcome.error().lines()).singleElement().asString().contains(problem);
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    private Path secretFile(String name, String content)
            throws IOException
    {
        Path file = Files.createFile(directory.resolve(name), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(file, content);
    }

    /// As a cache worker with the secret {@link #SECRET} does.
    private static void respondToProof(HttpExchange exchange)
            throws IOException
    {
        String authorization = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
        Request request = Request.of(exchange.getRequestMethod(), exchange.getRequestURI(), exchange.getRequestHeaders().getFirst("Host"));
        boolean proven = CHALLENGES.problem(List.of(SECRET), request, authorization).isEmpty();
        if (!proven) {
            exchange.getResponseHeaders().add("WWW-Authenticate", CHALLENGES.issue().header());
        }
        respond(exchange, proven ? 200 : 401, proven ? STATUS : "no");
    }

    @Test
    void testSecret()
            throws IOException
    {
        String host = server("/v1/status", TestCacheAdmin::respondToProof);
        Path right = secretFile("right", SECRET + "\n");
        Path wrong = secretFile("wrong", SECRET.toLowerCase(Locale.ROOT));
        Path empty = secretFile("empty", "\n");
        Path sample = secretFile("sample", "replace-with-a-secret-of-your-own");
        Path readable = secretFile("readable", SECRET);
        Files.setPosixFilePermissions(readable, PosixFilePermissions.fromString("rw-r-----"));

        assertThat(run("status", "--hosts", host, "--secret-file", right.toString()).code()).isEqualTo(ExitCode.OK);
        assertThat(run("status", "--hosts", host).error()).contains("name a file with the value of its internal-communication.shared-secret in --secret-file");
        Outcome refused = run("status", "--hosts", host, "--secret-file", wrong.toString());
        assertThat(refused.error()).contains("compare the file of --secret-file").contains("clocks");
        assertThat(refused.code()).isEqualTo(ExitCode.HOST_FAILED);
        Map.of(empty, "is empty: copy it again",
                        sample, "is a sample from the documentation",
                        readable, "can be read or written by other users (rw-r-----): run chmod 600 ")
                .forEach((file, problem) -> {
                    Outcome outcome = run("status", "--hosts", host, "--secret-file", file.toString());
                    assertThat(outcome.error().lines()).singleElement().asString().contains(file.toString(), problem);
                    assertThat(outcome.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
                });
        Outcome missing = run("status", "--hosts", host, "--secret-file", directory.resolve("missing").toString());
        assertThat(missing.error().lines()).singleElement().asString().contains("cannot be read (NoSuchFileException): name a file").contains("missing");
        assertThat(missing.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
    }

    @Test
    void testStatsTable()
            throws IOException
    {
        String host = worker("/v1/stats", 200, """
                {"worker": "w1", "state": "RUNNING", "since_millis": 1795000000000,
                 "total": {"requests": 40, "ram_hit_bytes": 6000, "ssd_hit_bytes": 1000, "non_local_hit_bytes": 1000, "remote_read_bytes": 2000, "bypass_bytes": 512},
                 "gauges": {"origin_gets": 3, "extra_bytes": 2048, "requests_of_nobody": 1},
                 "catalogs": [{"cluster": "trino", "catalog": "lake", "total": {"requests": 999}, "tables": {"a.b": {"requests": 888}}}]}
                """);

        Outcome outcome = run("stats", "--hosts", host);

        assertThat(outcome.error()).isEmpty();
        assertThat(outcome.out().lines().map(line -> line.replaceAll(" {2,}", "  "))).containsExactly(
                "HOST  STATE  HIT RATE  REQUESTS  RAM HITS  SSD HITS  NON-LOCAL  REMOTE  BYPASS  ORIGIN GETS  EXTRA",
                host + "  RUNNING  80.0%  40  5.9kB  1000B  1000B  2.0kB  512B  3  2.0kB");
    }

    @Test
    void testStatsBeforeTheFirstRead()
            throws IOException
    {
        String host = worker("/v1/stats", 200, """
                {"worker": "w1", "state": "RUNNING", "since_millis": 1795000000000, "total": {}, "gauges": {"origin_gets": 0, "extra_bytes": 0}, "catalogs": []}
                """);

        assertThat(run("stats", "--hosts", host).out().lines().toList().get(1).replaceAll(" {2,}", "  "))
                .isEqualTo(host + "  RUNNING  -  0  0B  0B  0B  0B  0B  0  0B");
    }

    @Test
    void testNotHttp()
            throws IOException
    {
        ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        servers.add(other);
        Thread.ofPlatform().daemon().start(() -> {
            try (Socket socket = other.accept()) {
                socket.getInputStream().read(new byte[4096]);
                socket.getOutputStream().write("SSH-2.0-OpenSSH\r\n".getBytes(UTF_8));
            }
            catch (IOException _) {
                // the assertion below tells
            }
        });

        Outcome outcome = run("status", "--hosts", "127.0.0.1:" + other.getLocalPort());

        assertThat(outcome.error().lines()).singleElement().asString().contains("is not the HTTP API of a cache worker");
        assertThat(outcome.code()).isEqualTo(ExitCode.HOST_FAILED);
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "",
            "nonsense",
            "install",
            "status --hosts",
            "status --hosts a:b",
            "status --hosts a --output yaml",
            "status --hosts a --timeout 5",
            "status --hosts a --timeout 0s",
            "status --hosts a extra",
            "status --hosts a --nonsense",
    })
    void testWrongUsage(String arguments)
    {
        Outcome outcome = run(arguments.isEmpty() ? new String[0] : arguments.split(" "));

        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.error().lines()).singleElement().asString()
                .startsWith("cache-admin: ")
                .endsWith(" --help)");
        assertThat(outcome.code()).isEqualTo(ExitCode.WRONG_USAGE);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "stop --hosts nobody           | nobody is neither a host nor a group",
            "flush clicks                  | clicks is no table",
            "preload a.b --partition ds    | --partition has ds",
            "drain --deadline 5m           | All cache workers would be drained",
    })
    void testWrongUsageByTheHostsFile(String arguments, String problem)
            throws IOException
    {
        Path file = Files.writeString(directory.resolve("hosts.yaml"), "workers: [127.0.0.1]\ntrino-url: http://127.0.0.1:1\n");
        List<String> command = new ArrayList<>(List.of(arguments.split(" ")));
        command.addAll(List.of("--config", file.toString()));

        Outcome outcome = run(command.toArray(String[]::new));

        assertThat(outcome.error().lines()).singleElement().asString().contains(problem);
        assertThat(outcome.code()).isEqualTo(ExitCode.WRONG_USAGE);
    }

    @Test
    void testHostsFileIsWrittenOnFirstUse()
            throws IOException
    {
        Path file = directory.resolve("hosts.yaml");

        Outcome outcome = run("status", "--config", file.toString());

        assertThat(outcome.error()).contains(file + " was written with an example");
        assertThat(outcome.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        assertThat(file).content().contains("workers:", "# ", "install-directory: /opt/cachedhive");
        // as it is, it names no real hosts
        assertThat(run("status", "--config", file.toString()).error()).contains(file + " line ").contains("<coordinator.example.net> is not the name of a host");
    }

    @Test
    void testWorkersOfHostsFile()
            throws IOException
    {
        String worker = worker("/v1/status", 200, STATUS);
        Path file = Files.writeString(directory.resolve("hosts.yaml"), """
                coordinators: [coordinator.invalid]
                workers:
                  - host: worker1
                    address: 127.0.0.1
                    http-port: %s
                """.formatted(worker.substring(worker.indexOf(':') + 1)));

        Outcome outcome = run("status", "--config", file.toString());

        assertThat(outcome.error()).isEmpty();
        assertThat(outcome.out().lines()).hasSize(2);
        assertThat(outcome.out()).contains(worker, "RUNNING");
    }

    @Test
    void testHostsOptionKnowsTheHostsFile()
            throws IOException
    {
        String good = server("/v1/status", TestCacheAdmin::respondToProof);
        List<String> proofs = new ArrayList<>();
        String stranger = server("/v1/status", exchange -> {
            proofs.add(exchange.getRequestHeaders().getFirst("Authorization"));
            respond(exchange, 200, STATUS);
        });
        secretFile("secret", SECRET + "\n");
        String file = Files.writeString(directory.resolve("hosts.yaml"), """
                workers:
                  - host: worker1
                    address: 127.0.0.1
                    http-port: %s
                  - worker.invalid
                groups: {large: {hosts: [worker1]}}
                secret-file: secret
                """.formatted(good.substring(good.indexOf(':') + 1))).toString();

        for (String name : List.of("worker1", "large", "worker1,large", good, "worker1" + good.substring(good.indexOf(':')))) {
            Outcome outcome = run("status", "--config", file, "--hosts", name);
            assertThat(outcome.code()).as(outcome.toString()).isEqualTo(ExitCode.OK);
            assertThat(outcome.out().lines()).hasSize(2);
        }
        Outcome outcome = run("status", "--config", file, "--hosts", "large," + stranger);
        assertThat(outcome.code()).as(outcome.toString()).isEqualTo(ExitCode.OK);
        assertThat(outcome.out()).contains(good, stranger);
        // the secret is none of its business
        assertThat(proofs).hasSize(1).containsOnlyNulls();
    }

    @Test
    void testEveryCommandIsOnItsPage()
            throws IOException
    {
        String page = Files.readString(Path.of(System.getProperty("user.dir")).resolveSibling("docs/operations/cache-admin.md"));
        List<String> commands = new ArrayList<>();
        run("--help").out().lines()
                .dropWhile(line -> !line.equals("Commands:"))
                .takeWhile(line -> !line.isBlank())
                .filter(line -> line.matches("  [a-z].*"))
                .forEach(line -> commands.add(line.strip().split(" ")[0]));

        assertThat(commands).contains("install", "doctor", "completion").allSatisfy(command -> assertThat(page).contains("`" + command));
        for (String code : List.of("| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 4 |")) {
            assertThat(page).contains(code);
        }
    }

    @Test
    void testCompletion()
    {
        Outcome outcome = run("completion");

        assertThat(outcome.out()).contains("complete -F", "install", "--dry-run");
        assertThat(outcome.code()).isEqualTo(ExitCode.OK);
    }

    @Test
    void testHelp()
    {
        assertThat(run("--help").out()).contains("status", "stats", "Exit code: 0 all is done");
        assertThat(run("status", "--help").out()).contains("--hosts", "--timeout", "(default: 5s)");
        assertThat(run("--help").code()).isEqualTo(ExitCode.OK);
        assertThat(run("status", "--help").code()).isEqualTo(ExitCode.OK);
        assertThat(run("help", "status")).isEqualTo(run("status", "--help"));
        assertThat(run("help").out()).isEqualTo(run("--help").out());
    }

    @Test
    void testVersion()
    {
        assertThat(run("--version").out()).startsWith("cache-admin ");
        assertThat(run("--version").code()).isEqualTo(ExitCode.OK);
    }

    @Test
    void testMistypedCommand()
    {
        Outcome outcome = run("stauts");
        assertThat(outcome.code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(outcome.error()).contains("stauts", "did you mean", "status");
        assertThat(run("status", "--hots", "a").error()).contains("--hots", "did you mean --hosts");
        Outcome help = run("help", "stauts");
        assertThat(help.code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(help.error()).contains("stauts", "did you mean", "status");
        assertThat(run("help", "config", "chekc").error()).contains("chekc", "did you mean", "check");
    }

    @Test
    void testRulesCheck()
            throws IOException
    {
        Path right = Files.writeString(directory.resolve("right.json"), """
                {"mode": "shadow", "rules": [{"name": "recent", "table": "orders|items", "partitionAge": {"columns": ["ds"], "max": "30d"}}, {"action": "bypass"}]}
                """);
        Path wrong = Files.writeString(directory.resolve("wrong.json"), """
                {"rules": [{"name": "big", "fileSize": {"min": "lots"}}]}
                """);
        Path broken = Files.writeString(directory.resolve("broken.json"), "{\n\"rules\": [,]}");

        Outcome well = run("rules", "check", right.toString());
        assertThat(well.code()).as(well.toString()).isEqualTo(ExitCode.OK);
        assertThat(well.out()).isEqualTo(right + ": 2 rules, mode SHADOW\n");

        Outcome found = run("rules", "check", right.toString(), wrong.toString(), broken.toString());
        assertThat(found.code()).isEqualTo(ExitCode.FOUND);
        assertThat(found.out().lines().toList()).hasSize(3)
                .satisfies(lines -> assertThat(lines.get(0)).contains("2 rules"))
                .satisfies(lines -> assertThat(lines.get(1)).contains("rule 1 (\"big\")", "\"min\" is \"lots\"", "write a size, such as \"64MB\""))
                .satisfies(lines -> assertThat(lines.get(2)).contains("line 2, column 11 is not JSON"));

        Outcome json = run("rules", "check", "--output", "json", right.toString(), wrong.toString());
        assertThat(json.code()).isEqualTo(ExitCode.FOUND);
        assertThat(json.out()).contains("\"rules\":2,\"mode\":\"SHADOW\"", "\"problem\":");

        Outcome missing = run("rules", "check", right.toString(), directory.resolve("none.json").toString());
        assertThat(missing.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        assertThat(missing.out()).isEmpty();
        assertThat(missing.error()).contains("none.json does not exist: name the one of cachedhive.rules-file");
        assertThat(run("rules", "check").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("rules").code()).isEqualTo(ExitCode.WRONG_USAGE);
    }

    @Test
    void testUnreachableRules()
            throws IOException
    {
        Path file = Files.writeString(directory.resolve("rules.json"), """
                {"rules": [{"name": "all"}, {"name": "late", "table": "orders"}]}
                """);

        Outcome found = run("rules", "check", file.toString());
        assertThat(found.code()).isEqualTo(ExitCode.FOUND);
        assertThat(found.out().lines()).containsExactly(
                file + ": 2 rules",
                file + ": rule late never decides, because rule all before it matches all its splits: move it before that rule, or remove it.");
        assertThat(run("rules", "check", "--output", "json", file.toString()).out()).contains("\"unreachable\":[\"rule late never decides");
    }

    @Test
    void testRulesExplain()
            throws IOException
    {
        String file = Files.writeString(directory.resolve("rules.json"), """
                {"rules": [
                    {"name": "dashboards", "user": "grafana", "class": "high"},
                    {"name": "recent", "table": "orders|items", "partitionAge": {"columns": ["ds"], "min": "1d"}, "action": "read_only"},
                    {"name": "large", "fileSize": {"min": "1GB"}, "action": "bypass"}]}
                """).toString();

        assertThat(run("rules", "explain", file, "--table", "s.orders", "--user", "grafana").out().lines())
                .containsExactly("dashboards: decides (action cache)");
        assertThat(run("rules", "explain", file, "--table", "s.orders", "--user", "bob", "--partition", "DS=2020-01-01").out().lines())
                .containsExactly("dashboards: does not match, because of user", "recent: decides (action read_only)");
        assertThat(run("rules", "explain", file, "--table", "s.orders", "--size", "2GB").out().lines())
                .containsExactly(
                        "dashboards: may match (action cache); add --user",
                        "recent: may match (action read_only); add --partition",
                        "large: decides, if no rule above matches (action bypass)");
        assertThat(run("rules", "explain", file, "--table", "s.other", "--user", "bob", "--size", "1MB").out().lines())
                .containsExactly(
                        "dashboards: does not match, because of user",
                        "recent: does not match, because of table",
                        "large: does not match, because of fileSize",
                        "default: decides (action cache)");
        assertThat(run("rules", "explain", file, "--table", "orders").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("rules", "explain", file, "--table", "s.t", "--size", "big").error()).contains("--size is big: write a size");
        assertThat(run("rules", "explain", file).code()).isEqualTo(ExitCode.WRONG_USAGE);
    }

    @Test
    void testProgressOnTerminalOnly()
            throws IOException
    {
        String host = worker("/v1/status", 200, STATUS);

        assertThat(run("status", "--hosts", host).error()).isEmpty();
        Outcome watched = run(true, "status", "--hosts", host);
        assertThat(watched.error()).contains("1 of 1 hosts answered");
        // nothing of it stays on the line
        assertThat(watched.error()).endsWith("\r\033[K\r");
        assertThat(watched.out()).startsWith("HOST");
    }

    private record Outcome(int code, String out, String error) {}

    private static Outcome run(String... arguments)
    {
        return run(false, arguments);
    }

    private static Outcome run(boolean errorIsTerminal, String... arguments)
    {
        StringWriter out = new StringWriter();
        StringWriter error = new StringWriter();
        int code = CacheAdmin.run(new Console(new PrintWriter(out), new PrintWriter(error), errorIsTerminal), withTimeout(arguments));
        return new Outcome(code, out.toString(), error.toString());
    }

    /**
     * Adds a time-out that no machine is too slow for, where a test does not set one.
     */
    private static String[] withTimeout(String... arguments)
    {
        List<String> all = new ArrayList<>(List.of(arguments));
        if (all.size() > 1 && List.of("status", "stats").contains(all.getFirst()) && !all.contains("--timeout") && !all.contains("--help")) {
            all.addAll(1, List.of("--timeout", "2m"));
        }
        return all.toArray(String[]::new);
    }

    private String worker(String path, int status, String body)
            throws IOException
    {
        return server(path, exchange -> respond(exchange, status, body));
    }

    private String server(String path, Handler handler)
            throws IOException
    {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(path, exchange -> {
            try (exchange) {
                handler.handle(exchange);
            }
        });
        server.setExecutor(task -> Thread.ofPlatform().daemon().start(task));
        server.start();
        servers.add(() -> server.stop(0));
        return "127.0.0.1:" + server.getAddress().getPort();
    }

    private interface Handler
    {
        void handle(HttpExchange exchange)
                throws IOException;
    }

    private static void respond(HttpExchange exchange, int status, String body)
            throws IOException
    {
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().add("Location", "/elsewhere");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }
}
