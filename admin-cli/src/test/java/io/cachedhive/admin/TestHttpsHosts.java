package io.cachedhive.admin;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.cachedhive.admin.cluster.TlsSettings;
import io.cachedhive.admin.ssh.TestingSshHosts;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A packaged cache worker whose API is HTTPS with client certificates only, and a coordinator that requires a login over HTTPS.
 */
@Timeout(240)
@Tag("slow")
class TestHttpsHosts
{
    private static final String SECRET = "fS9mD2kqLwz0Yb4nT7rXcVuE1hJgP6oA";
    private static final String KEYSTORE_PASSWORD = "changeit";
    private static final Duration START_DEADLINE = Duration.ofMinutes(3);

    @TempDir
    private Path directory;

    private Path ramDirectory;
    private Optional<Process> worker = Optional.empty();
    private Optional<HttpsServer> trino = Optional.empty();
    private final List<String> statements = new CopyOnWriteArrayList<>();

    @BeforeEach
    void setUp()
            throws Exception
    {
        ramDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
        Path secret = Files.createFile(directory.resolve("secret"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(secret, SECRET);
        for (String name : List.of("server", "client")) {
            Path keys = directory.resolve(name + ".p12");
            execute(Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-genkeypair", "-alias", name, "-keyalg", "EC", "-groupname", "secp256r1",
                    "-dname", "CN=" + name, "-ext", "san=ip:127.0.0.1", "-validity", "2", "-storetype", "PKCS12", "-keystore", keys.toString(), "-storepass", KEYSTORE_PASSWORD);
            KeyStore store = KeyStore.getInstance(keys.toFile(), KEYSTORE_PASSWORD.toCharArray());
            String certificate = pem("CERTIFICATE", store.getCertificate(name).getEncoded());
            Files.writeString(directory.resolve(name + "-certificate.pem"), certificate);
            Files.writeString(directory.resolve(name + ".pem"), pem("PRIVATE KEY", store.getKey(name, KEYSTORE_PASSWORD.toCharArray()).getEncoded()) + certificate);
        }
    }

    @AfterEach
    void tearDown()
            throws Exception
    {
        trino.ifPresent(server -> server.stop(0));
        if (worker.isPresent()) {
            worker.get().destroyForcibly().waitFor();
        }
        try (Stream<Path> files = Files.list(ramDirectory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(ramDirectory);
    }

    @Test
    void testCacheWorker()
            throws Exception
    {
        int port = TestingSshHosts.freePort("127.0.0.1");
        startWorker(port);
        for (String keystore : List.of("keystore-path: client.pem", "keystore-path: client.p12, keystore-password: " + KEYSTORE_PASSWORD)) {
            String file = hostsFile(port, "https", "tls: {truststore-path: server-certificate.pem, %s}\n".formatted(keystore));
            Outcome status = run("status", "--config", file, "--hosts", "w1", "--timeout", "30s");
            assertThat(status.code()).as(status.toString()).isEqualTo(ExitCode.OK);
            assertThat(status.out()).contains("127.0.0.1:" + port, "RUNNING");
        }
        String good = hostsFile(port, "https", "tls: {truststore-path: server-certificate.pem, keystore-path: client.pem}\n");
        assertThat(run("status", "--config", good, "--hosts", "https://127.0.0.1:" + port, "--timeout", "30s", "--secret-file", directory.resolve("secret").toString()).code())
                .isEqualTo(ExitCode.OK);

        // without a certificate of the client, with one that the server does not trust, with a truststore without the server's, and by HTTP
        for (String settings : List.of("tls: {truststore-path: server-certificate.pem}\n", "tls: {truststore-path: server-certificate.pem, keystore-path: server.pem}\n",
                "tls: {truststore-path: client-certificate.pem, keystore-path: client.pem}\n")) {
            Outcome refused = run("status", "--config", hostsFile(port, "https", settings), "--hosts", "w1", "--timeout", "30s");
            assertThat(refused.code()).as(settings).isEqualTo(ExitCode.HOST_FAILED);
            assertThat(refused.error().lines()).as(settings).hasSize(1);
        }
        String untrusting = hostsFile(port, "https", "tls: {truststore-path: client-certificate.pem, keystore-path: client.pem}\n");
        assertThat(run("status", "--config", untrusting, "--hosts", "w1", "--timeout", "30s").error())
                .contains("cannot be reached by HTTPS (no authority of the truststore signed its certificate)", "compare http-scheme and tls");
        Outcome clear = run("status", "--config", hostsFile(port, "http", ""), "--hosts", "w1", "--timeout", "30s");
        assertThat(clear.code()).isEqualTo(ExitCode.HOST_FAILED);
        assertThat(clear.error().lines()).singleElement().asString().contains("set http-scheme to https");
        Outcome insecure = run("status", "--config", hostsFile(port, "https", "tls: {insecure: true, keystore-path: client.pem}\n"), "--hosts", "w1", "--timeout", "30s");
        assertThat(insecure.code()).as(insecure.toString()).isEqualTo(ExitCode.OK);

        Outcome drained = run("drain", "--config", good, "--hosts", "w1", "--deadline", "10m");
        assertThat(drained.code()).as(drained.toString()).isEqualTo(ExitCode.OK);
        assertThat(run("drain", "--config", good, "--hosts", "w1", "--show").out()).contains("WAITING_FOR_RING");
        assertThat(run("drain", "--config", good, "--hosts", "w1", "--cancel").out()).contains("NOT_LEAVING");
    }

    @Test
    void testWrongFiles()
            throws Exception
    {
        for (String settings : List.of("tls: {truststore-path: missing.pem}\n", "tls: {keystore-path: client.p12, keystore-password: wrong}\n",
                "tls: {keystore-path: client-certificate.pem}\n", "tls: {truststore-path: secret}\n")) {
            Outcome outcome = run("status", "--config", hostsFile(1, "https", settings));
            assertThat(outcome.code()).as(settings).isEqualTo(ExitCode.WRONG_CONFIGURATION);
            assertThat(outcome.error().lines()).as(settings).singleElement().asString().contains("cannot be used").doesNotContain("wrong)");
        }
        assertThat(run("status", "--config", hostsFile(1, "ftp", "")).error()).contains("ftp is neither http nor https");
    }

    @Test
    void testTrinoLogins()
            throws Exception
    {
        String url = startTrino();
        String tls = "tls: {truststore-path: server-certificate.pem}\n";
        Files.writeString(directory.resolve("password"), "the password\n");
        Files.writeString(directory.resolve("wrong"), "another\n");
        Files.writeString(directory.resolve("token"), "the-token\n");

        Outcome password = run("disable", "--catalog", "lake", "--config", trinoFile(url, tls + "trino-password-file: password\n"));
        assertThat(password.code()).as(password.toString()).isEqualTo(ExitCode.OK);
        Outcome token = run("flush", "web.visits", "--catalog", "lake", "--config", trinoFile(url, tls + "trino-access-token-file: token\n"));
        assertThat(token.code()).as(token.toString()).isEqualTo(ExitCode.OK);
        assertThat(statements).hasSize(2);

        assertThat(run("disable", "--catalog", "lake", "--config", trinoFile(url, tls + "trino-password-file: wrong\n")).error()).contains("refuses the login of ops (HTTP 401)");
        assertThat(run("disable", "--catalog", "lake", "--config", trinoFile(url, tls)).error()).contains("requires authentication (HTTP 401)", "trino-password-file");
        Outcome untrusted = run("disable", "--catalog", "lake", "--config", trinoFile(url, "trino-password-file: password\n"));
        assertThat(untrusted.error()).contains("cannot be reached by HTTPS (no authority of the truststore signed its certificate)", "correct tls");
        Outcome clear = run("disable", "--catalog", "lake", "--config", trinoFile(url.replace("https", "http"), tls + "trino-password-file: password\n"));
        assertThat(clear.code()).isEqualTo(ExitCode.WRONG_CONFIGURATION);
        assertThat(clear.error()).contains("clear text");
        assertThat(run("disable", "--catalog", "lake", "--config", trinoFile(url, tls + "trino-password-file: missing\n")).error()).contains("The login for Trino cannot be read");
        assertThat(statements).hasSize(2);
    }

    private String startTrino()
            throws Exception
    {
        HttpsServer server = HttpsServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(new TlsSettings(
                Optional.empty(), Optional.empty(), Optional.of(directory.resolve("server.p12")), Optional.of(KEYSTORE_PASSWORD), false).context()));
        List<String> logins = List.of("Bearer the-token", "Basic " + Base64.getEncoder().encodeToString("ops:the password".getBytes(UTF_8)));
        server.createContext("/v1/statement", exchange -> {
            try (exchange) {
                boolean known = logins.contains(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
                String statement = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
                if (known) {
                    statements.add(statement);
                }
                byte[] answer = "{\"id\": \"q1\"}".getBytes(UTF_8);
                exchange.sendResponseHeaders(known ? 200 : 401, answer.length);
                exchange.getResponseBody().write(answer);
            }
        });
        server.start();
        trino = Optional.of(server);
        return "https://127.0.0.1:" + server.getAddress().getPort();
    }

    private void startWorker(int port)
            throws Exception
    {
        Path target = Path.of(System.getProperty("user.dir")).resolveSibling("cache-worker-daemon").resolve("target");
        Path packaged;
        try (Stream<Path> paths = Files.list(target)) {
            packaged = paths.filter(path -> path.getFileName().toString().startsWith("cache-worker-") && Files.isDirectory(path.resolve("lib")))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no packaged cache worker in %s: run mvn package -DskipTests -pl cache-worker-daemon -am".formatted(target)));
        }
        Files.createDirectories(directory.resolve("origins"));
        Path config = Files.writeString(directory.resolve("config.properties"), """
                node.environment=test
                internal-communication.shared-secret=%s
                http-server.http.enabled=false
                http-server.https.enabled=true
                http-server.https.port=%s
                http-server.https.keystore.path=%s
                http-server.https.truststore.path=%s
                http-server.log.enabled=false
                cache.worker.port=%s
                cache.worker.socket-path=%s
                cache.ram.directory=%s
                cache.ram.max-size=16MB
                cache.state-directory=%s
                cache.origins-directory=%s
                """.formatted(
                SECRET,
                port,
                directory.resolve("server.pem"),
                directory.resolve("client-certificate.pem"),
                TestingSshHosts.freePort("127.0.0.1"),
                directory.resolve("w.sock"),
                ramDirectory,
                directory.resolve("state"),
                directory.resolve("origins")));
        Path log = directory.resolve("worker.log");
        Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dconfig=" + config,
                "-cp", packaged.resolve("lib") + "/*",
                "io.cachedhive.worker.CacheWorker")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        worker = Optional.of(process);
        Await.until("the cache worker starts", START_DEADLINE, () -> {
            String output = Files.readString(log);
            assertThat(process.isAlive()).as(output).isTrue();
            return output.contains("CACHE WORKER STARTED");
        });
    }

    private String hostsFile(int port, String scheme, String settings)
            throws IOException
    {
        return Files.writeString(directory.resolve("hosts.yaml"), """
                workers:
                  - {host: w1, address: 127.0.0.1, http-port: %s}
                  - {host: w2, address: 127.0.0.1, http-port: 1}
                http-scheme: %s
                secret-file: secret
                """.formatted(port, scheme) + settings).toString();
    }

    private String trinoFile(String url, String settings)
            throws IOException
    {
        return Files.writeString(directory.resolve("hosts.yaml"), "workers: [w1]\ntrino-user: ops\ntrino-url: %s\n%s".formatted(url, settings)).toString();
    }

    private static String pem(String type, byte[] der)
    {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(type, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der), type);
    }

    private static void execute(String... command)
            throws IOException, InterruptedException
    {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    private record Outcome(int code, String out, String error) {}

    private static Outcome run(String... arguments)
    {
        List<String> all = new ArrayList<>(Arrays.asList(arguments));
        StringWriter out = new StringWriter();
        StringWriter error = new StringWriter();
        int code = CacheAdmin.run(new Console(new PrintWriter(out), new PrintWriter(error), false), all.toArray(String[]::new));
        return new Outcome(code, out.toString(), error.toString());
    }
}
