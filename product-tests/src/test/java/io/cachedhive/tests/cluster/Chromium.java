package io.cachedhive.tests.cluster;

import org.yaml.snakeyaml.Yaml;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A browser without a screen, controlled over its DevTools protocol.
 */
final class Chromium
        implements AutoCloseable
{
    static final Path PROGRAM = Path.of("/usr/bin/chromium");

    private static final Pattern LISTENING = Pattern.compile("DevTools listening on ws://127\\.0\\.0\\.1:(\\d+)/.*");
    private static final long TIMEOUT_SECONDS = 60;
    private static final int MAX_LINES = 100;

    private final Process process;
    private final HttpClient http = HttpClient.newHttpClient();
    private final WebSocket socket;
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<Map<?, ?>>> answers = new ConcurrentHashMap<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();

    /**
     * @param directory of the browser's data, which does not exist yet
     */
    Chromium(Path directory)
            throws Exception
    {
        Files.createDirectories(directory.getParent());
        process = new ProcessBuilder(
                PROGRAM.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                "--user-data-dir=" + directory,
                "--remote-debugging-port=0",
                "about:blank")
                .redirectErrorStream(true)
                .start();
        try {
            int port = readPort();
            String targets = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:%s/json/list".formatted(port))).build(), BodyHandlers.ofString()).body();
            List<Map<String, Object>> pages = new Yaml().load(targets);
            String address = pages.stream()
                    .filter(page -> page.get("type").equals("page"))
                    .map(page -> (String) page.get("webSocketDebuggerUrl"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no page in " + targets));
            socket = http.newWebSocketBuilder().buildAsync(URI.create(address), new Listener()).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            send("Page.enable", "{}");
            send("Runtime.enable", "{}");
            send("Log.enable", "{}");
        }
        catch (Exception e) {
            stop();
            throw e;
        }
    }

    /**
     * Reads the port from the first lines of the output, and the rest of the output in the background.
     */
    private int readPort()
            throws IOException
    {
        BufferedReader output = process.inputReader(UTF_8);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < MAX_LINES; i++) {
            String line = output.readLine();
            if (line == null) {
                break;
            }
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.matches()) {
                Thread.ofPlatform().daemon().name("chromium-output").start(() -> output.lines().forEach(_ -> {}));
                return Integer.parseInt(matcher.group(1));
            }
            lines.append(line).append('\n');
        }
        throw new AssertionError("%s does not listen: %s".formatted(PROGRAM, lines));
    }

    private final class Listener
            implements WebSocket.Listener
    {
        private final StringBuilder message = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last)
        {
            message.append(data);
            if (last) {
                Map<String, Object> received = new Yaml().load(message.toString());
                message.setLength(0);
                if (received.get("id") instanceof Integer id) {
                    answers.remove(id).complete(received);
                }
                else if (List.of("Log.entryAdded", "Runtime.exceptionThrown").contains(received.get("method"))) {
                    complaints.add(received.get("params").toString());
                }
            }
            webSocket.request(1);
            return null;
        }

        @Override
        public void onError(WebSocket webSocket, Throwable error)
        {
            answers.values().forEach(answer -> answer.completeExceptionally(error));
        }
    }

    private Map<?, ?> send(String method, String parameters)
            throws Exception
    {
        int id = ids.incrementAndGet();
        CompletableFuture<Map<?, ?>> answer = new CompletableFuture<>();
        answers.put(id, answer);
        socket.sendText("{\"id\": %s, \"method\": \"%s\", \"params\": %s}".formatted(id, method, parameters), true).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        Map<?, ?> received = answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (!(received.get("result") instanceof Map<?, ?> result)) {
            throw new AssertionError("%s failed: %s".formatted(method, received));
        }
        return result;
    }

    void open(URI page)
            throws Exception
    {
        send("Page.navigate", "{\"url\": %s}".formatted(quote(page.toString())));
    }

    /**
     * Returns the value of an expression of the page, as a string.
     */
    String evaluate(String expression)
            throws Exception
    {
        Map<?, ?> result = send("Runtime.evaluate", "{\"returnByValue\": true, \"expression\": %s}".formatted(quote("String(%s)".formatted(expression))));
        if (result.containsKey("exceptionDetails")) {
            throw new AssertionError("%s: %s".formatted(expression, result.get("exceptionDetails")));
        }
        return (String) ((Map<?, ?>) result.get("result")).get("value");
    }

    void resize(int width, int height, boolean dark)
            throws Exception
    {
        send("Emulation.setDeviceMetricsOverride", "{\"width\": %s, \"height\": %s, \"deviceScaleFactor\": 1, \"mobile\": %s}".formatted(width, height, width < 600));
        send("Emulation.setEmulatedMedia", "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"%s\"}]}".formatted(dark ? "dark" : "light"));
    }

    /**
     * Writes a picture of the window.
     */
    void screenshot(Path file)
            throws Exception
    {
        Map<?, ?> result = send("Page.captureScreenshot", "{\"format\": \"png\"}");
        Files.createDirectories(file.getParent());
        Files.write(file, Base64.getDecoder().decode((String) result.get("data")));
    }

    /**
     * Returns the messages of the browser about errors of the page, and about violations of its Content-Security-Policy.
     */
    List<String> complaints()
    {
        return List.copyOf(complaints);
    }

    /**
     * A string as JSON.
     */
    private static String quote(String text)
    {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }

    private void stop()
    {
        // with the processes that it has started
        List<ProcessHandle> all = process.descendants().toList();
        process.destroyForcibly();
        all.forEach(ProcessHandle::destroyForcibly);
        try {
            process.waitFor();
        }
        catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        http.shutdownNow();
    }

    @Override
    public void close()
    {
        try {
            socket.abort();
        }
        finally {
            stop();
        }
    }
}
