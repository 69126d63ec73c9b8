package io.cachedhive.quickstart;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cachedhive.testing.cluster.home.Distribution;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs {@code bin/sql} against a server that speaks just enough of Trino's protocol to answer {@code CREATE} with a count,
 * anything with "bad" in it with an error and all else with one row.
 */
final class TestSql
{
    private static final String STATS = """
            {"state": "FINISHED", "queued": false, "scheduled": true, "nodes": 1, "totalSplits": 1, "queuedSplits": 0, "runningSplits": 0, "completedSplits": 1,
            "cpuTimeMillis": 1, "wallTimeMillis": 1, "queuedTimeMillis": 0, "elapsedTimeMillis": 1, "processedRows": 1, "processedBytes": 1,
            "physicalInputBytes": 0, "peakMemoryBytes": 0, "spilledBytes": 0}""";

    private final List<String> received = new CopyOnWriteArrayList<>();
    private final List<String> catalogs = new CopyOnWriteArrayList<>();
    private final List<String> sessions = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private String url;

    @TempDir
    private Path directory;

    @BeforeEach
    void setUp()
            throws IOException
    {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/statement", this::answer);
        server.start();
        url = "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void tearDown()
    {
        server.stop(0);
    }

    private void answer(HttpExchange exchange)
            throws IOException
    {
        String sql = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        received.add(sql);
        catalogs.add(Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Trino-Catalog")).orElse("")
                + "." + Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Trino-Schema")).orElse(""));
        sessions.add(Optional.ofNullable(exchange.getRequestHeaders().getFirst("X-Trino-Session")).orElse(""));
        String body;
        if (sql.contains("bad")) {
            body = """
                    {"id": "query_1", "infoUri": "http://localhost/", "stats": %s, "error": {"message": "line 1:1: mismatched input 'bad'", "errorCode": 1,
                    "errorName": "SYNTAX_ERROR", "errorType": "USER_ERROR", "failureInfo": {"type": "x", "message": "x", "suppressed": [], "stack": []}}}""".formatted(STATS);
        }
        else if (!sql.startsWith("CREATE")) {
            body = """
                    {"id": "query_1", "infoUri": "http://localhost/", "stats": %s,
                    "columns": [%s, %s], "data": [["x", null]]}""".formatted(
                    STATS,
                    column("name", "varchar", "{\"kind\": \"LONG\", \"value\": 2147483647}"),
                    column("n", "bigint", ""));
        }
        else {
            body = """
                    {"id": "query_1", "infoUri": "http://localhost/", "stats": %s, "updateType": "CREATE TABLE", "updateCount": 7, "columns": [%s]}""".formatted(
                    STATS,
                    column("rows", "bigint", ""));
        }
        byte[] bytes = body.getBytes(UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static String column(String name, String type, String arguments)
    {
        return """
                {"name": "%s", "type": "%s", "typeSignature": {"rawType": "%s", "arguments": [%s]}}""".formatted(name, type, type, arguments);
    }

    @Test
    void testStatement()
            throws Exception
    {
        Run run = run("", "SELECT 1", "--server", url);
        assertThat(run.code()).as(run.error()).isEqualTo(0);
        assertThat(run.out().lines().map(String::stripTrailing)).startsWith(
                " name |  n",
                "------+------",
                " x    | NULL");
    }

    @Test
    void testOptions()
            throws Exception
    {
        Run run = run("", "SELECT 1; SELECT 2", "--server", url, "--catalog", "hive", "--schema=sales", "--session", "hive.a=b", "--output-format", "JSON");
        assertThat(run.code()).as(run.error()).isEqualTo(0);
        assertThat(run.out()).isEqualTo("{\"name\":\"x\",\"n\":null}\n{\"name\":\"x\",\"n\":null}\n");
        assertThat(received).containsExactly("SELECT 1", "SELECT 2");
        assertThat(catalogs).containsOnly("hive.sales");
        assertThat(sessions).containsOnly("hive.a=b");
    }

    @Test
    void testStandardInput()
            throws Exception
    {
        Run run = run("SELECT\n1;SELECT 2;\n", "--server", url, "--output-format=TSV");
        assertThat(run.code()).as(run.error()).isEqualTo(0);
        assertThat(received).containsExactly("SELECT\n1", "SELECT 2");
        assertThat(run.out()).isEqualTo("x\t\nx\t\n");
    }

    @Test
    void testFailedStatement()
            throws Exception
    {
        Run run = run("", "bad; SELECT 2", "--server", url);
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.error()).contains("Query query_1 failed: line 1:1: mismatched input 'bad'");
        assertThat(received).containsExactly("bad");
    }

    @Test
    void testHelp()
            throws Exception
    {
        Run run = run("", "--help");
        assertThat(run.code()).isEqualTo(0);
        assertThat(run.out()).contains("Usage: bin/sql", "--directory DIRECTORY", "Exit code", "--output-format=<format>");
    }

    @Test
    void testRunningQuickstart()
            throws Exception
    {
        new RunningQuickstart(URI.create(url), "cachedhive", "tpch_orc", ProcessHandle.current().pid()).write(directory);
        assertThat(run("", "--directory", directory.toString(), "SELECT 1").code()).isEqualTo(0);
        assertThat(run("", "--directory", directory.toString(), "SELECT 1", "--schema", "other").code()).isEqualTo(0);
        assertThat(run("", "--directory", directory.toString(), "SELECT 1", "--catalog", "tpch").code()).isEqualTo(0);
        assertThat(catalogs).containsExactly("cachedhive.tpch_orc", "cachedhive.other", "tpch.");
    }

    @Test
    void testNoQuickstart()
            throws Exception
    {
        Run expected = new Run(
                3,
                "",
                "bin/sql: no quickstart is running on %s: start bin/quickstart, or pass the URL of a Trino server with --server\n".formatted(directory));
        assertThat(run("", "--directory", directory.toString(), "SELECT 1")).isEqualTo(expected);

        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        new RunningQuickstart(URI.create(url), "cachedhive", "tpch_orc", ended.pid()).write(directory);
        assertThat(run("", "--directory", directory.toString(), "SELECT 1")).isEqualTo(expected);

        Files.writeString(directory.resolve("running.properties"), "pid=many\n");
        assertThat(run("", "--directory", directory.toString(), "SELECT 1")).isEqualTo(expected);
        assertThat(received).isEmpty();
    }

    private Run run(String input, String... arguments)
            throws Exception
    {
        Path out = directory.resolve("out");
        Path error = directory.resolve("error");
        List<String> command = new ArrayList<>(List.of(Distribution.find().root().resolve("bin/sql").toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(error.toFile())
                .start();
        try (OutputStream stream = process.getOutputStream()) {
            stream.write(input.getBytes(UTF_8));
        }
        catch (IOException _) {
            // the process ended without reading its input
        }
        return new Run(process.waitFor(), Files.readString(out), Files.readString(error));
    }

    private record Run(int code, String out, String error) {}
}
