package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestUiServer
{
    private UiServer server;
    private int port;
    private String token;

    @BeforeEach
    void setUp()
            throws IOException
    {
        server = UiServer.start(0, () -> JsonNodeFactory.instance.objectNode().put("table", "<b>"));
        port = server.address().getPort();
        token = server.address().getQuery().substring("token=".length());
    }

    @AfterEach
    void tearDown()
    {
        server.close();
    }

    @Test
    void testPage()
            throws IOException
    {
        assertThat(server.address()).asString().isEqualTo("http://127.0.0.1:%s/ui?token=%s".formatted(port, token));
        assertThat(token).matches("[A-Za-z0-9_-]{43}");

        Answer page = get("/ui?token=" + token);
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.body()).contains("<title>cachedhive</title>").doesNotContain(token);
        String cookie = page.headers().get("set-cookie");
        assertThat(cookie).isEqualTo("cache-admin-ui-%s=%s; Path=/ui; HttpOnly; SameSite=Strict".formatted(port, token));

        Answer data = get("/ui/data", "Cookie: other=1; " + cookie.substring(0, cookie.indexOf(';')));
        assertThat(data.status()).isEqualTo(200);
        assertThat(data.headers()).containsEntry("content-type", "application/json; charset=utf-8").doesNotContainKey("set-cookie");
        assertThat(data.body()).isEqualTo("{\"table\":\"<b>\"}");
    }

    @Test
    void testFiles()
            throws IOException
    {
        Map<String, String> types = Map.of(
                "/ui", "text/html; charset=utf-8",
                "/ui/ui.css", "text/css; charset=utf-8",
                "/ui/ui.js", "text/javascript; charset=utf-8",
                "/ui/icon.svg", "image/svg+xml");
        for (Map.Entry<String, String> file : types.entrySet()) {
            Answer answer = get(file.getKey(), cookie());
            assertThat(answer.status()).as(file.getKey()).isEqualTo(200);
            assertThat(answer.headers()).containsEntry("content-type", file.getValue());
            assertThat(answer.body()).isNotBlank();
        }
        assertThat(get("/ui/", cookie()).status()).isEqualTo(404);
        assertThat(get("/ui/UiServer.class", cookie()).status()).isEqualTo(404);
        assertThat(get("/ui/../ui.css", cookie()).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/ui", "/ui?token=", "/ui?token=x", "/ui/data", "/ui/ui.js", "/favicon.ico"})
    void testWithoutToken(String target)
            throws IOException
    {
        for (Answer answer : List.of(get(target), get(target, "Cookie: cache-admin-ui-%s=x".formatted(port)), get(target, "Cookie: token=" + token))) {
            assertThat(answer.status()).isEqualTo(401);
            assertThat(answer.headers()).doesNotContainKey("set-cookie");
            assertThat(answer.body()).isEqualTo("The token is missing or wrong: open the address that cache-admin ui printed. It is valid until the command ends.\n");
        }
    }

    /**
     * The address with the token opens the page and nothing else, so that no other address with the token is stored.
     */
    @Test
    void testTokenOpensThePageOnly()
            throws IOException
    {
        assertThat(get("/ui/data?token=" + token).status()).isEqualTo(401);
        assertThat(get("/ui?other=1&token=" + token).status()).isEqualTo(200);
        assertThat(get("/ui?token=" + token.toLowerCase(Locale.ROOT)).status()).isEqualTo(401);
        assertThat(get("/ui?token=" + token + "x").status()).isEqualTo(401);
    }

    @Test
    void testHostHeader()
            throws IOException
    {
        for (String host : List.of("127.0.0.1:" + port, "localhost:" + port, "localhost", "127.0.0.1:9000", "[::1]:9000")) {
            assertThat(send("GET", "/ui/data", "Host: " + host, cookie()).status()).as(host).isEqualTo(200);
        }
        for (String host : List.of("attacker.example:" + port, "127.0.0.1.attacker.example", "localhost.attacker.example:" + port, "", "127.0.0.1:80:80")) {
            Answer answer = send("GET", "/ui?token=" + token, "Host: " + host, cookie());
            assertThat(answer.status()).as(host).isEqualTo(403);
            assertThat(answer.headers()).doesNotContainKey("set-cookie");
        }
        assertThat(send("GET", "/ui/data", cookie()).status()).as("no Host header").isEqualTo(403);
        assertThat(send("GET", "/ui/data", "Host: localhost", "Host: attacker.example", cookie()).status()).as("two Host headers").isEqualTo(403);
    }

    @Test
    void testMethods()
            throws IOException
    {
        for (String method : List.of("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH")) {
            Answer answer = send(method, "/ui/data", "Host: localhost", cookie());
            assertThat(answer.status()).as(method).isEqualTo(405);
            assertThat(answer.headers()).containsEntry("allow", "GET, HEAD");
        }
        Answer head = send("HEAD", "/ui/data", "Host: localhost", cookie());
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.headers()).containsEntry("content-length", "15");
        assertThat(head.body()).isEmpty();
    }

    @Test
    void testSecurityHeaders()
            throws IOException
    {
        for (Answer answer : List.of(get("/ui?token=" + token), get("/ui/data", cookie()), get("/ui"), send("POST", "/ui", "Host: x"))) {
            assertThat(answer.headers())
                    .containsEntry("x-content-type-options", "nosniff")
                    .containsEntry("x-frame-options", "DENY")
                    .containsEntry("referrer-policy", "no-referrer")
                    .containsEntry("cross-origin-resource-policy", "same-origin")
                    .containsEntry("cache-control", "no-store")
                    .doesNotContainKey("access-control-allow-origin");
            assertThat(answer.headers().get("content-security-policy"))
                    .startsWith("default-src 'self';")
                    .contains("frame-ancestors 'none'", "require-trusted-types-for 'script'")
                    .doesNotContain("unsafe", "http");
        }
    }

    /**
     * A server on all addresses would answer on each address of the loopback network.
     */
    @Test
    void testListensOnLoopbackOnly()
    {
        assertThatThrownBy(() -> new Socket("127.0.0.2", port).close()).isInstanceOf(IOException.class);
    }

    @Test
    void testPortInUse()
    {
        assertThatThrownBy(() -> UiServer.start(port, JsonNodeFactory.instance::objectNode)).isInstanceOf(IOException.class);
    }

    @Test
    void testTokensDiffer()
            throws IOException
    {
        try (UiServer other = UiServer.start(0, JsonNodeFactory.instance::objectNode)) {
            assertThat(other.address().getQuery()).isNotEqualTo(server.address().getQuery());
        }
    }

    /**
     * The page inserts all values as text, and loads nothing from other servers.
     */
    @Test
    void testPageInsertsNoMarkup()
            throws IOException
    {
        assertThat(resource("ui.js"))
                .contains("textContent")
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "createContextualFragment", "DOMParser", "srcdoc")
                .doesNotContain("eval(", "Function(", "http:", "https:");
        String page = resource("ui.html");
        assertThat(page).doesNotContain("http:", "https:", "style=", "<style", "onclick", "onload");
        assertThat(page.split("<script", -1)).as("scripts").hasSize(2);
        assertThat(page).contains("<script src=\"/ui/ui.js\" defer></script>");
        assertThat(resource("ui.css")).doesNotContain("url(", "@import");
    }

    private static String resource(String name)
            throws IOException
    {
        try (InputStream stream = UiServer.class.getResourceAsStream(name)) {
            return new String(requireNonNull(stream, name).readAllBytes(), UTF_8);
        }
    }

    private String cookie()
    {
        return "Cookie: cache-admin-ui-%s=%s".formatted(port, token);
    }

    /**
     * @param headers names in lower case
     */
    private record Answer(int status, Map<String, String> headers, String body) {}

    private Answer get(String target, String... headers)
            throws IOException
    {
        List<String> all = new ArrayList<>(List.of("Host: 127.0.0.1:" + port));
        all.addAll(Arrays.asList(headers));
        return send("GET", target, all.toArray(String[]::new));
    }

    /**
     * Sends a request over a socket, because Java's HTTP client sets the Host header itself.
     */
    private Answer send(String method, String target, String... headers)
            throws IOException
    {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = "%s %s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n".formatted(method, target, String.join("\r\n", headers));
            socket.getOutputStream().write(request.getBytes(UTF_8));
            String response = new String(socket.getInputStream().readAllBytes(), UTF_8);
            int end = response.indexOf("\r\n\r\n");
            List<String> lines = response.substring(0, end).lines().toList();
            Map<String, String> received = new TreeMap<>();
            for (String line : lines.subList(1, lines.size())) {
                int colon = line.indexOf(':');
                received.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
            }
            return new Answer(Integer.parseInt(lines.getFirst().split(" ")[1]), received, response.substring(end + 4));
        }
    }
}
