package io.cachedhive.quickstart.sql;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the client in this process against a server that speaks just enough of Trino's protocol to answer {@code CREATE} with a count,
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
    {
        Run run = run("", "--server", url, "SELECT 1");
        assertThat(run.code()).isEqualTo(Sql.OK);
        assertThat(run.out()).isEqualTo(
                """
                 name |    n
                ------+------
                 x    | NULL
                """);
        assertThat(run.error()).matches("\\(1 row in \\d+\\.\\d\\d s\\)\n");
    }

    @Test
    void testOptions()
    {
        Run run = run("", "--server", url, "--catalog", "hive", "--schema=sales", "--session", "hive.a=b", "--output", "json", "SELECT 1; SELECT 2");
        assertThat(run.code()).isEqualTo(Sql.OK);
        assertThat(run.out()).isEqualTo("{\"name\":\"x\",\"n\":null}\n{\"name\":\"x\",\"n\":null}\n");
        assertThat(received).containsExactly("SELECT 1", "SELECT 2");
        assertThat(catalogs).containsOnly("hive.sales");
        assertThat(sessions).containsOnly("hive.a=b");
    }

    @Test
    void testStatementWithoutRows()
    {
        Run run = run("", "--server", url, "CREATE TABLE t AS SELECT 1");
        assertThat(run.code()).isEqualTo(Sql.OK);
        assertThat(run.out()).isEmpty();
        assertThat(run.error()).matches("\\(CREATE TABLE: 7 rows in \\d+\\.\\d\\d s\\)\n");
    }

    @Test
    void testStandardInput()
    {
        Run run = run("SELECT\n1;SELECT 2; -- rest\nSELECT 3", "--server", url, "--output", "csv");
        assertThat(run.code()).isEqualTo(Sql.OK);
        assertThat(received).containsExactly("SELECT\n1", "SELECT 2", "-- rest\nSELECT 3");
        // no prompt: this is not a terminal
        assertThat(run.error().lines()).hasSize(3).allMatch(line -> line.startsWith("(1 row in"));
    }

    @Test
    void testPromptOnATerminal()
    {
        Run run = run("bad;\nSELECT\n1;\nquit\nSELECT 2;", new Terminal(true, false, false, 80), Map.of(), "--server", url);
        // a person sees the error and goes on
        assertThat(run.code()).isEqualTo(Sql.OK);
        assertThat(received).containsExactly("bad", "SELECT\n1");
        assertThat(run.error()).startsWith("sql> bin/sql: ").contains("sql>   -> (1 row");
    }

    @Test
    void testFailedStatement()
    {
        Run run = run("", "--server", url, "bad; SELECT 2");
        assertThat(run.code()).isEqualTo(Sql.STATEMENT_FAILED);
        assertThat(run.error()).isEqualTo("bin/sql: Query failed (#query_1): line 1:1: mismatched input 'bad'\n");
        assertThat(received).containsExactly("bad");
        assertThat(run("bad;\nSELECT 2;", "--server", url).code()).isEqualTo(Sql.STATEMENT_FAILED);
        assertThat(received).containsExactly("bad", "bad");
    }

    @Test
    void testWrongUsage()
    {
        assertThat(run("", "--nonsense").code()).isEqualTo(Sql.WRONG_USAGE);
        assertThat(run("", "--nonsense").error()).isEqualTo("bin/sql: Unknown option: '--nonsense'\n");
        assertThat(run("", "--output", "xml", "SELECT 1").error().lines()).hasSize(1).first().asString().contains("xml");
        assertThat(run("", "--server", "localhost", "SELECT 1").code()).isEqualTo(Sql.WRONG_USAGE);
        assertThat(run("", "--server", "localhost", "SELECT 1").error()).isEqualTo("bin/sql: the server's address must look like http://host:port: localhost\n");
        assertThat(run("", "--server", url, " ; ").error()).isEqualTo("bin/sql: there is no statement to run\n");
    }

    @Test
    void testHelp()
    {
        Run run = run("", "--help");
        assertThat(run.code()).isEqualTo(Sql.OK);
        assertThat(run.out()).contains("--server", "--output", "--session", "Exit code");
    }

    @Test
    void testNoServer()
            throws IOException
    {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Run run = run("", "--server", "http://127.0.0.1:" + port, "SELECT 1");
        assertThat(run.code()).isEqualTo(Sql.NO_SERVER);
        assertThat(run.error().lines()).hasSize(1).first().asString().startsWith("bin/sql: cannot reach Trino at http://127.0.0.1:%s: ".formatted(port));
    }

    @Test
    void testNoQuickstart()
    {
        Run run = run("", "SELECT 1");
        assertThat(run.code()).isEqualTo(Sql.NO_SERVER);
        assertThat(run.error()).isEqualTo("bin/sql: no quickstart is running on %s; start bin/quickstart, or name a Trino server with --server\n".formatted(directory));
    }

    @Test
    void testRunningQuickstart()
            throws IOException
    {
        new RunningQuickstart(URI.create(url), "cachedhive", "tpch_orc", ProcessHandle.current().pid()).write(directory);
        assertThat(run("", "SELECT 1").code()).isEqualTo(Sql.OK);
        assertThat(run("", "--schema", "other", "SELECT 1").code()).isEqualTo(Sql.OK);
        assertThat(run("", "--catalog", "tpch", "SELECT 1").code()).isEqualTo(Sql.OK);
        assertThat(catalogs).containsExactly("cachedhive.tpch_orc", "cachedhive.other", "tpch.");

        RunningQuickstart.remove(directory);
        assertThat(run("", "SELECT 1").code()).isEqualTo(Sql.NO_SERVER);
        assertThat(run("", new Terminal(false, false, false, 80), Map.of("CACHEDHIVE_SERVER", url), "SELECT 1").code()).isEqualTo(Sql.OK);
    }

    @Test
    void testQuickstartThatDiedIsNotRunning()
            throws Exception
    {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        new RunningQuickstart(URI.create(url), "cachedhive", "tpch_orc", ended.pid()).write(directory);
        assertThat(run("", "SELECT 1").code()).isEqualTo(Sql.NO_SERVER);

        Files.writeString(directory.resolve("running.properties"), "pid=many\n");
        assertThat(run("", "SELECT 1").code()).isEqualTo(Sql.STATEMENT_FAILED);
        assertThat(run("", "SELECT 1").error()).startsWith("bin/sql: %s is damaged: ".formatted(directory.resolve("running.properties")));
    }

    private Run run(String input, String... arguments)
    {
        return run(input, new Terminal(false, false, false, 80), Map.of(), arguments);
    }

    private Run run(String input, Terminal terminal, Map<String, String> environment, String... arguments)
    {
        StringWriter out = new StringWriter();
        ByteArrayOutputStream error = new ByteArrayOutputStream();
        Sql sql = new Sql(
                new ByteArrayInputStream(input.getBytes(UTF_8)),
                out,
                new PrintStream(error, true, UTF_8),
                terminal,
                environment,
                Optional.of(directory));
        int code = sql.run(arguments);
        return new Run(code, out.toString(), error.toString(UTF_8));
    }

    private record Run(int code, String out, String error) {}
}
