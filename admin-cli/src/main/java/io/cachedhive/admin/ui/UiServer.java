package io.cachedhive.admin.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Serves the page with the state of the cache on a loopback address. All users of the machine reach this address, so each
 * request needs the token that only the printed address has, or the cookie that the page gets for it.
 */
public final class UiServer
        implements AutoCloseable
{
    private static final String PAGE_PATH = "/ui";
    private static final String DATA_PATH = "/ui/data";
    private static final String TOKEN_PARAMETER = "token=";
    private static final int TOKEN_BYTES = 32;
    private static final int THREADS = 4;

    // a page of another site may be opened under a name that its owner lets point to this machine; with an SSH tunnel, the port is another one
    private static final Set<String> HOST_NAMES = Set.of("127.0.0.1", "localhost", "[::1]");

    private static final Map<String, String> SECURITY_HEADERS = Map.of(
            "Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY",
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Resource-Policy", "same-origin",
            "Cross-Origin-Opener-Policy", "same-origin",
            "Cache-Control", "no-store");

    static {
        // seconds; a process of another user must not hold the threads with half a request. The server reads them when its first instance is created
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
        System.setProperty("sun.net.httpserver.maxRspTime", "60");
    }

    private final HttpServer server;
    private final ExecutorService executor;
    private final Supplier<JsonNode> data;
    private final String token;
    private final Map<String, Response> files;

    /**
     * An answer to a request.
     *
     * @param headers in addition to those of all answers
     */
    private record Response(int status, String contentType, byte[] body, Map<String, String> headers)
    {
        static Response sentence(int status, String sentence, Map<String, String> headers)
        {
            return new Response(status, "text/plain; charset=utf-8", (sentence + "\n").getBytes(UTF_8), headers);
        }
    }

    private UiServer(HttpServer server, Supplier<JsonNode> data)
    {
        this.server = server;
        this.data = requireNonNull(data, "data is null");
        byte[] random = new byte[TOKEN_BYTES];
        new SecureRandom().nextBytes(random);
        token = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
        files = Map.of(
                PAGE_PATH, file("ui.html", "text/html; charset=utf-8"),
                "/ui/ui.css", file("ui.css", "text/css; charset=utf-8"),
                "/ui/ui.js", file("ui.js", "text/javascript; charset=utf-8"),
                "/ui/icon.svg", file("icon.svg", "image/svg+xml"));
        executor = Executors.newFixedThreadPool(THREADS, Thread.ofPlatform().daemon().name("ui-", 0).factory());
    }

    /**
     * Starts a server.
     *
     * @param port 0 for a free one
     * @param data what the page shows
     * @throws IOException if the port cannot be used
     */
    public static UiServer start(int port, Supplier<JsonNode> data)
            throws IOException
    {
        HttpServer http = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), 0);
        UiServer server = new UiServer(http, data);
        http.setExecutor(server.executor);
        http.createContext("/", server::handle);
        http.start();
        return server;
    }

    /**
     * Returns the address of the page, with the token.
     */
    public URI address()
    {
        return URI.create("http://127.0.0.1:%s%s?%s%s".formatted(port(), PAGE_PATH, TOKEN_PARAMETER, token));
    }

    private int port()
    {
        return server.getAddress().getPort();
    }

    // cookies of a host are the same on all of its ports
    private String cookieName()
    {
        return "cache-admin-ui-" + port();
    }

    private static Response file(String name, String contentType)
    {
        try (InputStream stream = UiServer.class.getResourceAsStream(name)) {
            return new Response(200, contentType, requireNonNull(stream, name).readAllBytes(), Map.of());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void handle(HttpExchange exchange)
            throws IOException
    {
        try (exchange) {
            Response response = respond(exchange);
            Headers headers = exchange.getResponseHeaders();
            SECURITY_HEADERS.forEach(headers::set);
            response.headers().forEach(headers::set);
            headers.set("Content-Type", response.contentType());
            if (exchange.getRequestMethod().equals("HEAD")) {
                headers.set("Content-Length", Integer.toString(response.body().length));
                exchange.sendResponseHeaders(response.status(), -1);
            }
            else {
                exchange.sendResponseHeaders(response.status(), response.body().length);
                exchange.getResponseBody().write(response.body());
            }
        }
    }

    private Response respond(HttpExchange exchange)
    {
        List<String> hosts = exchange.getRequestHeaders().getOrDefault("Host", List.of());
        if (hosts.size() != 1 || !HOST_NAMES.contains(hosts.getFirst().replaceFirst(":[0-9]*$", ""))) {
            return Response.sentence(403, "This server has only the names 127.0.0.1 and localhost: open the address that cache-admin ui printed.", Map.of());
        }
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD")) {
            return Response.sentence(405, "This page only shows: GET and HEAD are allowed.", Map.of("Allow", "GET, HEAD"));
        }
        URI uri = exchange.getRequestURI();
        boolean opened = PAGE_PATH.equals(uri.getPath()) && tokens(uri).anyMatch(this::isToken);
        if (!opened && cookies(exchange).noneMatch(this::isToken)) {
            return Response.sentence(401, "The token is missing or wrong: open the address that cache-admin ui printed. It is valid until the command ends.", Map.of());
        }
        if (DATA_PATH.equals(uri.getPath())) {
            // toString of a node is JSON
            return new Response(200, "application/json; charset=utf-8", data.get().toString().getBytes(UTF_8), Map.of());
        }
        Response file = files.get(uri.getPath());
        if (file == null) {
            return Response.sentence(404, "The page is at /ui.", Map.of());
        }
        if (opened) {
            String cookie = "%s=%s; Path=%s; HttpOnly; SameSite=Strict".formatted(cookieName(), token, PAGE_PATH);
            return new Response(file.status(), file.contentType(), file.body(), Map.of("Set-Cookie", cookie));
        }
        return file;
    }

    private boolean isToken(String given)
    {
        // takes the same time, however much of it is right
        return MessageDigest.isEqual(given.getBytes(UTF_8), token.getBytes(UTF_8));
    }

    private static Stream<String> tokens(URI uri)
    {
        return Optional.ofNullable(uri.getRawQuery()).stream()
                .flatMap(query -> Stream.of(query.split("&")))
                .filter(parameter -> parameter.startsWith(TOKEN_PARAMETER))
                .map(parameter -> parameter.substring(TOKEN_PARAMETER.length()));
    }

    private Stream<String> cookies(HttpExchange exchange)
    {
        String prefix = cookieName() + "=";
        return exchange.getRequestHeaders().getOrDefault("Cookie", List.of()).stream()
                .flatMap(header -> Stream.of(header.split(";")))
                .map(String::strip)
                .filter(cookie -> cookie.startsWith(prefix))
                .map(cookie -> cookie.substring(prefix.length()));
    }

    @Override
    public void close()
    {
        server.stop(0);
        executor.shutdownNow();
    }
}
