package io.cachedhive.worker;

import io.cachedhive.protocol.security.HttpProof;
import io.cachedhive.protocol.security.HttpProof.Challenge;
import io.cachedhive.protocol.security.HttpProof.Request;
import io.cachedhive.protocol.security.ProvingHttpClient;
import io.cachedhive.worker.http.MetricsToken;
import io.cachedhive.worker.testing.WorkerProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Who may use the HTTP API of a cache worker process, over HTTP and over HTTPS.
 */
@Timeout(1800)
@Tag("slow")
class TestHttpApi
{
    private static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";
    private static final String TOKEN = "token-of-the-monitoring-system";
    private static final String PASSWORD = "changeit";

    @TempDir
    private Path directory;

    private Path ramDirectory;
    private final Map<String, String> config = new TreeMap<>();
    private final List<Process> processes = new ArrayList<>();
    private HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private URI server;

    @BeforeEach
    void setUp()
            throws IOException
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        Files.createDirectories(directory.resolve("origins"));
        int port = WorkerProcess.freePort();
        server = URI.create("http://127.0.0.1:" + port);
        config.putAll(Map.of(
                "node.environment", "test",
                "http-server.http.port", Integer.toString(port),
                "http-server.log.enabled", "false",
                "cache.worker.port", Integer.toString(WorkerProcess.freePort()),
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
        client.close();
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

    private void start()
            throws IOException
    {
        Path file = directory.resolve("config.properties");
        WorkerProcess.write(file, config);
        processes.add(WorkerProcess.start(file, directory.resolve("worker.log")));
    }

    private HttpResponse<String> send(String method, String path, String... headers)
            throws Exception
    {
        HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve(path)).method(method, BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> prove(String method, String path, String secret)
            throws Exception
    {
        HttpRequest request = HttpRequest.newBuilder(server.resolve(path)).method(method, BodyPublishers.noBody()).build();
        return ProvingHttpClient.sendAsync(client, request, Optional.of(secret), BodyHandlers.ofString()).get();
    }

    private Challenge challenge(String path)
            throws Exception
    {
        return Challenge.parse(send("GET", path).headers().firstValue("WWW-Authenticate").orElseThrow()).orElseThrow();
    }

    @Test
    void testProofOnLoopback()
            throws Exception
    {
        config.put("internal-communication.shared-secret", SECRET);
        start();

        // another user of the host
        for (String path : List.of("/v1/status", "/v1/stats", "/v1/tables", "/v1/drain", "/v1/ssd-format", "/v1/nothing")) {
            assertThat(send("GET", path).statusCode()).as(path).isEqualTo(401);
        }
        HttpResponse<String> refused = send("POST", "/v1/drain");
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.body()).isEqualTo("the request has no proof of the shared secret\n");
        assertThat(prove("POST", "/v1/drain", SECRET + "x").statusCode()).isEqualTo(401);
        assertThat(send("POST", "/v1/health").statusCode()).isEqualTo(401);
        HttpResponse<String> health = send("GET", "/v1/health");
        assertThat(health.statusCode()).isEqualTo(200);
        assertThat(health.body()).isEqualTo("RUNNING\n");
        // open by default
        assertThat(send("GET", "/metrics").body()).endsWith("# EOF\n");

        assertThat(prove("GET", "/v1/drain", SECRET).body()).contains("\"state\":\"NOT_LEAVING\"");
        assertThat(prove("GET", "/v1/tables?cluster=c&catalog=a%20b&after=t%2f", SECRET).statusCode()).isEqualTo(200);

        // the proof of one GET, sent again
        Request status = new Request("GET", "/v1/status", server.getAuthority());
        String authorization = HttpProof.authorization(SECRET, status, challenge("/v1/status"), System.currentTimeMillis());
        assertThat(send("GET", "/v1/status", "Authorization", authorization).statusCode()).isEqualTo(200);
        HttpResponse<String> replay = send("GET", "/v1/status", "Authorization", authorization);
        assertThat(replay.statusCode()).isEqualTo(401);
        assertThat(replay.body()).isEqualTo("the proof was used before\n");
        // with another method, another path, and another query
        authorization = HttpProof.authorization(SECRET, status, challenge("/v1/status"), System.currentTimeMillis());
        assertThat(send("POST", "/v1/status", "Authorization", authorization).statusCode()).isEqualTo(401);
        assertThat(send("POST", "/v1/drain", "Authorization", authorization).statusCode()).isEqualTo(401);
        assertThat(send("GET", "/v1/status?x", "Authorization", authorization).statusCode()).isEqualTo(401);
        // for another authority
        Request elsewhere = new Request("GET", "/v1/status", "127.0.0.2:" + server.getPort());
        authorization = HttpProof.authorization(SECRET, elsewhere, challenge("/v1/status"), System.currentTimeMillis());
        assertThat(send("GET", "/v1/status", "Authorization", authorization).statusCode()).isEqualTo(401);
        // nothing of this did anything
        assertThat(prove("GET", "/v1/drain", SECRET).body()).contains("\"state\":\"NOT_LEAVING\"");
    }

    @Test
    void testWithoutSecret()
            throws Exception
    {
        start();
        assertThat(send("GET", "/v1/status").body()).contains("\"state\":\"RUNNING\"");
        assertThat(send("GET", "/v1/health").body()).isEqualTo("RUNNING\n");
        assertThat(send("GET", "/metrics").body()).endsWith("# EOF\n");
        List<String> requests = List.of(
                "POST /v1/drain", "DELETE /v1/drain", "GET /v1/drain", "GET /v1/stats", "GET /v1/tables", "POST /v1/ssd-format", "POST /v1/status", "GET /v1/");
        for (String request : requests) {
            HttpResponse<String> refused = send(request.split(" ")[0], request.split(" ")[1]);
            assertThat(refused.statusCode()).as(request).isEqualTo(403);
            assertThat(refused.body()).contains("set internal-communication.shared-secret").hasLineCount(1);
        }
    }

    @Test
    void testHttpsWithClientCertificatesAndMetricsToken()
            throws Exception
    {
        Path serverKeys = keys("server");
        Path clientKeys = keys("client");
        Path tokenFile = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        Files.setPosixFilePermissions(tokenFile, PosixFilePermissions.fromString("rw-r-----"));
        server = URI.create("https://127.0.0.1:" + config.remove("http-server.http.port"));
        config.put("internal-communication.shared-secret", SECRET);
        config.put("http-server.http.enabled", "false");
        config.put("http-server.https.enabled", "true");
        config.put("http-server.https.port", Integer.toString(server.getPort()));
        config.put("http-server.https.keystore.path", serverKeys.toString());
        config.put("http-server.https.keystore.key", PASSWORD);
        config.put("http-server.https.truststore.path", certificate(clientKeys).toString());
        config.put("cache.metrics.authentication", "REQUIRED");
        config.put("cache.metrics.bearer-token-file", tokenFile.toString());
        start();

        // without a certificate
        client = client(serverKeys, Optional.empty());
        assertThatThrownBy(() -> send("GET", "/metrics")).isInstanceOf(IOException.class);
        // with one that the truststore does not have
        client = client(serverKeys, Optional.of(keys("stranger")));
        assertThatThrownBy(() -> send("GET", "/metrics")).isInstanceOf(IOException.class);

        client = client(serverKeys, Optional.of(clientKeys));
        assertThat(send("GET", "/v1/status").statusCode()).isEqualTo(401);
        assertThat(prove("GET", "/v1/status", SECRET).body()).contains("\"state\":\"RUNNING\"");

        HttpResponse<String> metrics = send("GET", "/metrics");
        assertThat(metrics.statusCode()).isEqualTo(401);
        assertThat(metrics.headers().allValues("WWW-Authenticate")).anyMatch(header -> header.contains("Bearer"));
        assertThat(send("GET", "/metrics", "Authorization", "Bearer " + TOKEN).body()).contains("cachedhive_ram_capacity_bytes").endsWith("# EOF\n");
        assertThat(send("GET", "/metrics", "Authorization", "Bearer " + TOKEN + "x").statusCode()).isEqualTo(401);
        assertThat(send("GET", "/metrics", "Authorization", "Bearer ").statusCode()).isEqualTo(401);
        assertThat(prove("GET", "/metrics", SECRET).statusCode()).isEqualTo(200);
        // the token opens nothing else
        assertThat(send("GET", "/v1/status", "Authorization", "Bearer " + TOKEN).statusCode()).isEqualTo(401);
        assertThat(send("POST", "/v1/drain", "Authorization", "Bearer " + TOKEN).statusCode()).isEqualTo(401);
        // a new token needs no restart
        Files.writeString(tokenFile, "another-token");
        assertThat(send("GET", "/metrics", "Authorization", "Bearer " + TOKEN).statusCode()).isEqualTo(401);
        assertThat(send("GET", "/metrics", "Authorization", "Bearer another-token").statusCode()).isEqualTo(200);
        Files.setPosixFilePermissions(tokenFile, PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(send("GET", "/metrics", "Authorization", "Bearer another-token").statusCode()).isEqualTo(401);
        assertThat(new MetricsToken(tokenFile).problem().orElseThrow())
                .startsWith("cache.metrics.bearer-token-file %s is readable or writable by other users: run chmod o-rwx,g-w %s".formatted(tokenFile, tokenFile));
        Files.setPosixFilePermissions(tokenFile, PosixFilePermissions.fromString("rw-------"));
        assertThat(send("GET", "/metrics", "Authorization", "Bearer another-token").statusCode()).isEqualTo(200);
        Files.writeString(tokenFile, "");
        assertThat(send("GET", "/metrics", "Authorization", "Bearer ").statusCode()).isEqualTo(401);
    }

    private Path keys(String name)
            throws Exception
    {
        Path file = directory.resolve(name + ".p12");
        keytool("-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=" + name, "-ext", "san=ip:127.0.0.1",
                "-validity", "2", "-storetype", "PKCS12", "-keystore", file.toString(), "-storepass", PASSWORD);
        return file;
    }

    private Path certificate(Path keys)
            throws Exception
    {
        Path file = Path.of(keys + ".pem");
        keytool("-exportcert", "-rfc", "-file", file.toString(), "-keystore", keys.toString(), "-storepass", PASSWORD);
        return file;
    }

    private void keytool(String... arguments)
            throws Exception
    {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        if (!command.contains("-alias")) {
            String file = command.get(command.indexOf("-keystore") + 1);
            command.addAll(List.of("-alias", new File(file).getName().replace(".p12", "")));
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    private static HttpClient client(Path serverKeys, Optional<Path> clientKeys)
            throws Exception
    {
        KeyStore server = KeyStore.getInstance(serverKeys.toFile(), PASSWORD.toCharArray());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("server", server.getCertificate("server"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(clientKeys.isPresent() ? KeyStore.getInstance(clientKeys.get().toFile(), PASSWORD.toCharArray()) : null, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_1_1).build();
    }
}
