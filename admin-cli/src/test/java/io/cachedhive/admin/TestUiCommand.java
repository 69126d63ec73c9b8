package io.cachedhive.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.cachedhive.protocol.security.HttpChallenges;
import io.cachedhive.protocol.security.HttpProof.Request;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.CookieManager;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The command, and a cache worker that requires the proof of a secret.
 */
class TestUiCommand
{
    private static final String FORMER_SECRET = "9vQ2LrT7xWb4NcYk8HsZp3MdGf6JaEu1";
    private static final String SECRET = "Zp3MdGf6JaEu19vQ2LrT7xWb4NcYk8Hs";

    private final HttpChallenges challenges = new HttpChallenges("w1", new SecureRandom(), System::nanoTime, System::currentTimeMillis);
    private final AtomicReference<String> secret = new AtomicReference<>(FORMER_SECRET);
    private final AtomicInteger refusals = new AtomicInteger();
    private final CountDownLatch refused = new CountDownLatch(2);
    private HttpServer worker;

    @TempDir
    private Path directory;

    @BeforeEach
    void setUp()
            throws IOException
    {
        worker = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        worker.createContext("/", exchange -> {
            try (exchange) {
                String authorization = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
                Request request = Request.of(exchange.getRequestMethod(), exchange.getRequestURI(), exchange.getRequestHeaders().getFirst("Host"));
                if (challenges.problem(List.of(secret.get()), request, authorization).isPresent()) {
                    exchange.getResponseHeaders().add("WWW-Authenticate", challenges.issue().header());
                    exchange.sendResponseHeaders(401, -1);
                    if (!authorization.equals("null")) {
                        refusals.incrementAndGet();
                        refused.countDown();
                    }
                    return;
                }
                byte[] bytes = "{\"state\": \"RUNNING\", \"since_millis\": 1, \"total\": {\"ram_hit_bytes\": 7}}".getBytes(UTF_8);
                exchange.sendResponseHeaders(200, bytes.length);
                exchange.getResponseBody().write(bytes);
            }
        });
        worker.start();
        writeSecret(FORMER_SECRET);
    }

    @AfterEach
    void tearDown()
    {
        worker.stop(0);
    }

    private Path secretFile()
    {
        return directory.resolve("secret");
    }

    private void writeSecret(String value)
            throws IOException
    {
        Files.writeString(secretFile(), value);
        Files.setPosixFilePermissions(secretFile(), PosixFilePermissions.fromString("rw-------"));
    }

    private String host()
    {
        return "127.0.0.1:" + worker.getAddress().getPort();
    }

    /**
     * Passes on the first line that is written.
     */
    private static final class FirstLine
            extends Writer
    {
        private final StringBuilder text = new StringBuilder();
        private final CompletableFuture<String> line = new CompletableFuture<>();

        @Override
        public void write(char[] characters, int offset, int length)
        {
            text.append(characters, offset, length);
            int end = text.indexOf("\n");
            if (end >= 0) {
                line.complete(text.substring(0, end));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @Test
    void testPageOfHostsAndSecret()
            throws Exception
    {
        FirstLine out = new FirstLine();
        StringWriter error = new StringWriter();
        AtomicInteger code = new AtomicInteger(-1);
        Thread command = Thread.ofPlatform().daemon().start(() -> code.set(CacheAdmin.run(
                new Console(new PrintWriter(out), new PrintWriter(error), false),
                "ui", "--hosts", host(), "--secret-file", secretFile().toString(), "--interval", "10ms", "--timeout", "2m")));
        try (HttpClient client = HttpClient.newBuilder().cookieHandler(new CookieManager()).build()) {
            URI address = URI.create(out.line.get());
            assertThat(get(client, address.resolve("/ui/data")).statusCode()).isEqualTo(401);
            assertThat(get(client, address).statusCode()).isEqualTo(200);
            JsonNode data = awaitRunning(client, address);
            assertThat(data.get("bytes").get("ram_hit_bytes").asLong()).isEqualTo(7);
            assertThat(data.get("workers").get(0).get("host").asText()).isEqualTo(host());
            assertThat(refusals).hasValue(0);

            // the secret is rotated while the command runs
            secret.set(SECRET);
            refused.await();
            writeSecret(SECRET);
            awaitRunning(client, address);
        }
        finally {
            command.interrupt();
            command.join();
        }
        assertThat(code).hasValue(ExitCode.OK);
        assertThat(error.toString().lines()).singleElement().asString().startsWith("Open this address in a browser on this machine.");
    }

    /// Each request waits for the next state, which the command reads each 10 ms.
    private static JsonNode awaitRunning(HttpClient client, URI address)
            throws IOException, InterruptedException
    {
        while (true) {
            JsonNode data = new ObjectMapper().readTree(get(client, address.resolve("/ui/data")).body());
            if (data.get("running").asInt() == 1) {
                return data;
            }
        }
    }

    private static HttpResponse<String> get(HttpClient client, URI uri)
            throws IOException, InterruptedException
    {
        return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }

    @Test
    void testWrongPort()
            throws IOException
    {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String port = Integer.toString(other.getLocalPort());
            assertThat(fail("ui", "--hosts", host(), "--port", port)).startsWith("cache-admin: Port %s of 127.0.0.1 cannot be used".formatted(port));
        }
        assertThat(fail("ui", "--hosts", host(), "--port", "65536")).contains("--port is 65536: use a port from 1 to 65535, or 0 for a free one.");
        assertThat(fail("ui", "--hosts", "a:b")).endsWith("(see cache-admin ui --help)");
    }

    private static String fail(String... arguments)
    {
        StringWriter error = new StringWriter();
        int code = CacheAdmin.run(new Console(new PrintWriter(new StringWriter()), new PrintWriter(error), false), arguments);
        assertThat(code).isEqualTo(ExitCode.WRONG_USAGE);
        return error.toString().strip();
    }
}
