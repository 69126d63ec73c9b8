package io.cachedhive.admin;

import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The commands that run SQL, against a server that speaks Trino's protocol as far as they need it.
 */
class TestSqlCommands
{
    private final List<String> statements = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private volatile String result = "{\"id\": \"q1\"}";

    @TempDir
    private Path directory;

    @BeforeEach
    void setUp()
            throws IOException
    {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        server.createContext("/v1/statement", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            if (exchange.getRequestMethod().equals("POST")) {
                statements.add(exchange.getRequestHeaders().getFirst("X-Trino-User") + ": " + body);
            }
            String answer = exchange.getRequestMethod().equals("POST") ?
                    "{\"id\": \"q1\", \"nextUri\": \"%s/v1/statement/next\"}".formatted(url) :
                    statements.getLast().contains("missing") ? "{\"id\": \"q1\", \"error\": {\"message\": \"no such table\"}}" : result;
            byte[] bytes = answer.getBytes(UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        Files.createDirectories(directory.resolve("conf/catalog"));
        Files.writeString(directory.resolve("conf/catalog/lake.properties"), "connector.name=cachedhive\n");
        Files.writeString(directory.resolve("conf/catalog/other.properties"), "connector.name=tpch\n");
        Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1]\nconfiguration-directory: conf\ntrino-user: ops\ntrino-url: %s\n".formatted(url));
    }

    @AfterEach
    void tearDown()
    {
        server.stop(0);
    }

    @Test
    void testModes()
    {
        assertThat(run("disable").code()).isEqualTo(ExitCode.OK);
        assertThat(run("enable").out()).contains("lake: done (query q1)");
        assertThat(run("enable", "--mode", "shadow", "--catalog", "a,b").code()).isEqualTo(ExitCode.OK);

        assertThat(statements).containsExactly(
                "ops: CALL \"lake\".system.set_cache_mode('OFF')",
                "ops: CALL \"lake\".system.set_cache_mode('ON')",
                "ops: CALL \"a\".system.set_cache_mode('SHADOW')",
                "ops: CALL \"b\".system.set_cache_mode('SHADOW')");
    }

    @Test
    void testFlushAndPreload()
    {
        assertThat(run("flush", "web.it's", "--partition", "ds=2024-03-08,region=eu").code()).isEqualTo(ExitCode.OK);
        assertThat(run("preload", "web.visits", "--columns", "a,b", "--wait").code()).isEqualTo(ExitCode.OK);
        Outcome dry = run("preload", "web.visits", "--partition", "ds=x", "--dry-run");

        assertThat(statements).containsExactly(
                "ops: CALL \"lake\".system.flush_data_cache(schema_name => 'web', table_name => 'it''s', "
                        + "partition_columns => ARRAY['ds', 'region'], partition_values => ARRAY['2024-03-08', 'eu'])",
                "ops: CALL \"lake\".system.preload_table(schema_name => 'web', table_name => 'visits', columns => ARRAY['a', 'b'], wait => true)");
        assertThat(dry.out()).startsWith("CALL \"lake\".system.preload_partition(");
    }

    @Test
    void testFlushOfLocation()
    {
        assertThat(run("flush", "--location", "s3://lake/it's/").code()).isEqualTo(ExitCode.OK);
        assertThat(statements).containsExactly("ops: CALL \"lake\".system.flush_location(location => 's3://lake/it''s/')");

        assertThat(run("flush").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("flush", "web.visits", "--location", "s3://lake/").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("flush", "--partition", "ds=1", "--location", "s3://lake/").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(statements).hasSize(1);
    }

    @Test
    void testFailures()
    {
        Outcome refused = run("flush", "web.missing");
        assertThat(refused.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(refused.error()).contains("lake: Trino returned an error: no such table (query q1)");
        assertThat(run("flush", "missing").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("disable", "--trino-url", "nonsense").code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        server.stop(0);
        assertThat(run("disable").error()).contains("cannot be reached", "correct trino-url");
    }

    @Test
    void testExplain()
    {
        result =
                """
                {"id": "q1", "columns": [
                    {"name": "query_id"}, {"name": "user"}, {"name": "state"}, {"name": "error"}, {"name": "elapsed_seconds"}, {"name": "tables"},
                    {"name": "ram_hit_bytes"}, {"name": "ssd_hit_bytes"}, {"name": "non_local_hit_bytes"}, {"name": "remote_read_bytes"}, {"name": "bypass_bytes"},
                    {"name": "ram_hit_wait_seconds"}, {"name": "ssd_hit_wait_seconds"}, {"name": "non_local_hit_wait_seconds"}, {"name": "remote_read_wait_seconds"},
                    {"name": "bypass_wait_seconds"}, {"name": "saved_requests"}, {"name": "spent_requests"}, {"name": "bypass_bytes_by_cause"}],
                "data": [["20261127_1", "alice", "FINISHED", null, 12.5, "lake.web.clicks", 1048576, 0, 0, 0, 3145728, 0.0, 0.0, 0.0, 0.0, 20.25, 5, 7,
                    "no_worker=3145000, timeout=728"]]}
                """;
        Outcome explained = run("explain", "20261127_1");
        assertThat(explained.code()).isEqualTo(ExitCode.OK);
        assertThat(explained.out().lines()).containsExactly(
                "Query 20261127_1 of user alice is FINISHED after 12.5 s.",
                "It reads lake.web.clicks.",
                "Its scans read 4.0MB:",
                "  1.0MB (25.0%) from RAM of the same host; reads waited 0.0 s",
                "  3.0MB (75.0%) from the object store, bypassing the cache; reads waited 20.3 s",
                "The cache saved 5 requests to the object store, and 7 were made.",
                "Reads waited most for data that bypassed the cache:",
                "3.0MB bypassed the cache (no_worker). A Trino worker had no cache worker on its host, or the cache worker refused it. "
                        + "Run cache-admin status, and start the missing cache worker.",
                "728B bypassed the cache (timeout). A cache worker did not reply within a second. Check the load of its host, its disks and the network.");
        assertThat(statements).containsExactly("ops: SELECT * FROM system.cache.queries WHERE query_id = '20261127_1'");

        result = "{\"id\": \"q1\", \"columns\": [{\"name\": \"query_id\"}]}";
        Outcome unknown = run("explain", "it's");
        assertThat(unknown.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(unknown.error()).contains("Query it's is not in system.cache.queries");
        assertThat(statements).last().isEqualTo("ops: SELECT * FROM system.cache.queries WHERE query_id = 'it''s'");
    }

    private record Outcome(int code, String out, String error) {}

    /**
     * Trino has the addresses of the blocks' ports. One cache worker is in the hosts file with its port, and the other one is not.
     */
    @Test
    void testWorkersOfTrino()
            throws IOException
    {
        HttpServer inFile = cacheWorker("127.0.0.2");
        HttpServer other = cacheWorker("127.0.0.3");
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            String port = Integer.toString(other.getAddress().getPort());
            Files.writeString(directory.resolve("hosts.yaml"), "workers: [127.0.0.2]\nhttp-port: %s\n".formatted(inFile.getAddress().getPort()));
            result = """
                    {"id": "q1", "columns": [{"name": "address"}], "data": [["127.0.0.2:8484"], ["127.0.0.3:8484"]]}
                    """;
            Outcome status = run("status", "--trino-url", url, "--trino-user", "eve", "--catalog", "la\"ke", "--http-port", port);
            assertThat(status.code()).as(status.toString()).isEqualTo(ExitCode.OK);
            assertThat(status.out()).contains(address(inFile), address(other), "RUNNING");
            assertThat(statements).containsExactly("eve: SELECT address FROM \"la\"\"ke\".cache.nodes ORDER BY address");

            Outcome top = run("top", "--trino-url", url, "--catalog", "lake", "--http-port", port, "--hosts", "127.0.0.3", "--interval", "1ms", "--count", "1");
            assertThat(top.code()).as(top.toString()).isEqualTo(ExitCode.OK);
            assertThat(top.out()).contains(address(other)).doesNotContain(address(inFile));

            assertThat(requests).doesNotContain("POST /v1/drain");
            Outcome all = run("drain", "--trino-url", url, "--catalog", "lake", "--http-port", port);
            assertThat(all.code()).isEqualTo(ExitCode.WRONG_USAGE);
            assertThat(all.error()).contains("All cache workers would be drained");
            assertThat(run("drain", "--trino-url", url, "--catalog", "lake", "--http-port", port, "--hosts", "127.0.0.3", "--dry-run").error())
                    .contains(address(other) + " would be drained.");
            assertThat(requests).doesNotContain("POST /v1/drain");
            Outcome drained = run("drain", "--trino-url", url, "--catalog", "lake", "--http-port", port, "--hosts", "127.0.0.3");
            assertThat(drained.code()).as(drained.toString()).isEqualTo(ExitCode.OK);
            assertThat(requests.getLast()).isEqualTo("POST /v1/drain");

            Outcome unknown = run("stats", "--trino-url", url, "--catalog", "lake", "--hosts", "elsewhere");
            assertThat(unknown.code()).isEqualTo(ExitCode.WRONG_USAGE);
            assertThat(unknown.error()).contains("elsewhere is not a cache worker of " + url, address(inFile));
        }
        finally {
            inFile.stop(0);
            other.stop(0);
        }
    }

    /**
     * Without the name of a catalog, all cachedhive catalogs of Trino are asked.
     */
    @Test
    void testCatalogsOfTrino()
    {
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        result = """
                {"id": "q1", "columns": [{"name": "catalog_name"}, {"name": "address"}], "data": [["lake", "127.0.0.2:8484"], ["web", "127.0.0.2:8484"]]}
                """;
        run("status", "--trino-url", url, "--timeout", "1ms");
        assertThat(statements).containsExactly(
                "ops: SELECT catalog_name FROM system.metadata.catalogs WHERE connector_name = 'cachedhive' ORDER BY catalog_name",
                "ops: SELECT address FROM \"lake\".cache.nodes UNION SELECT address FROM \"web\".cache.nodes ORDER BY address");

        result = "{\"id\": \"q1\"}";
        Outcome none = run("status", "--trino-url", url);
        assertThat(none.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(none.error()).contains("shows this user no cachedhive catalog: name it with --catalog");
        assertThat(run("status", "--trino-url", url, "--catalog", "lake").error()).contains("knows no cache worker: start Trino workers");
        assertThat(run("status", "--trino-url", url, "--catalog", "missing").error()).contains("no such table");
        assertThat(run("status", "--trino-url", url, "--http-port", "0").code()).isEqualTo(ExitCode.WRONG_USAGE);
        assertThat(run("status", "--trino-url", "nonsense").code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
    }

    private HttpServer cacheWorker(String address)
            throws IOException
    {
        HttpServer worker = HttpServer.create(new InetSocketAddress(address, 0), 0);
        worker.createContext("/v1/", exchange -> {
            requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
            byte[] bytes = "{\"state\": \"RUNNING\"}".getBytes(UTF_8);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        worker.start();
        return worker;
    }

    private static String address(HttpServer worker)
    {
        return worker.getAddress().getAddress().getHostAddress() + ":" + worker.getAddress().getPort();
    }

    private Outcome run(String... arguments)
    {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        all.addAll(List.of("--config", directory.resolve("hosts.yaml").toString()));
        StringWriter out = new StringWriter();
        StringWriter error = new StringWriter();
        int code = CacheAdmin.run(new Console(new PrintWriter(out), new PrintWriter(error), false), all.toArray(String[]::new));
        return new Outcome(code, out.toString(), error.toString());
    }
}
