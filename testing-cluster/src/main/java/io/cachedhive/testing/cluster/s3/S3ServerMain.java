package io.cachedhive.testing.cluster.s3;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.util.stream.Collectors.joining;

/**
 * The S3 server as a process of its own: {@code --directory DIR [--address 127.0.0.1 | --all-addresses] [--port 0] [--bucket NAME]... [--foreground]}.
 * <p>
 * Objects are kept in {@code DIR/objects}, the request log is {@code DIR/requests.log}; {@code DIR/server.properties} appears when the server answers and names
 * {@code endpoint} and {@code control}, the URI where faults and holds are ordered (see {@link S3ServerProcess}, its client).
 * Ends when its standard input does, so that it never outlives the process that started it; with {@code --foreground} only when it is stopped.
 */
public final class S3ServerMain
{
    static final String OBJECTS_DIRECTORY = "objects";
    static final String LOG_FILE = "requests.log";
    static final String ADDRESS_FILE = "server.properties";

    private S3ServerMain() {}

    public static void main(String[] args)
            throws Exception
    {
        Map<String, List<String>> options = parse(args);
        if (!options.containsKey("directory")) {
            System.err.println("usage: S3ServerMain --directory DIR [--address 127.0.0.1 | --all-addresses] [--port 0] [--bucket NAME]... [--foreground]");
            System.exit(2);
        }
        Path directory = Path.of(options.get("directory").getFirst());
        String address = options.getOrDefault("address", List.of("127.0.0.1")).getLast();
        S3Server.Builder builder = S3Server.builder()
                .address(address)
                .port(Integer.parseInt(options.getOrDefault("port", List.of("0")).getLast()))
                .directory(directory.resolve(OBJECTS_DIRECTORY))
                .logFile(directory.resolve(LOG_FILE));
        options.getOrDefault("bucket", List.of()).forEach(builder::bucket);
        if (options.containsKey("all-addresses")) {
            builder.allAddresses();
        }

        CountDownLatch stop = new CountDownLatch(1);
        S3Server s3;
        try {
            s3 = builder.start();
        }
        catch (IllegalStateException e) {
            System.err.println(e.getMessage());
            System.exit(1);
            return;
        }
        HttpServer control = startControl(s3, address, stop);
        Runtime.getRuntime().addShutdownHook(new Thread(stop::countDown));
        announce(directory, s3.endpoint(), URI.create("http://%s:%s".formatted(address, control.getAddress().getPort())));

        if (!options.containsKey("foreground")) {
            Thread.ofPlatform().daemon().name("parent-watch").start(() -> {
                try {
                    while (System.in.read() >= 0) {
                        // nothing is said on this pipe, only its end counts
                    }
                }
                catch (IOException _) {
                    // as good as its end
                }
                stop.countDown();
            });
        }
        stop.await();
        control.stop(0);
        s3.close();
        System.exit(0);
    }

    private static Map<String, List<String>> parse(String[] args)
    {
        Map<String, List<String>> options = new HashMap<>();
        for (int index = 0; index < args.length; index++) {
            String name = args[index];
            if (!name.startsWith("--")) {
                throw new IllegalArgumentException("not an option: " + name);
            }
            List<String> values = options.computeIfAbsent(name.substring(2), _ -> new ArrayList<>());
            if (index + 1 < args.length && !args[index + 1].startsWith("--")) {
                index++;
                values.add(args[index]);
            }
        }
        return options;
    }

    private static void announce(Path directory, URI endpoint, URI control)
            throws IOException
    {
        Properties properties = new Properties();
        properties.setProperty("endpoint", endpoint.toString());
        properties.setProperty("control", control.toString());
        properties.setProperty("pid", Long.toString(ProcessHandle.current().pid()));
        Path unfinished = directory.resolve(ADDRESS_FILE + ".new");
        Files.writeString(unfinished, toText(properties));
        Files.move(unfinished, directory.resolve(ADDRESS_FILE), ATOMIC_MOVE);
    }

    private static HttpServer startControl(S3Server s3, String address, CountDownLatch stop)
            throws IOException
    {
        Map<String, LocalHold> holds = new ConcurrentHashMap<>();
        AtomicLong nextHold = new AtomicLong();
        HttpServer server = HttpServer.create(new InetSocketAddress(address, 0), 0);
        server.setExecutor(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
        server.createContext("/faults", exchange -> answer(exchange, () -> {
            if (exchange.getRequestMethod().equals("PUT")) {
                s3.setFaults(S3Faults.fromProperties(readProperties(exchange)));
            }
            return toText(s3.faults().toProperties());
        }));
        server.createContext("/in-flight", exchange -> answer(exchange, () -> s3.inFlight().stream()
                .map(request -> request.toLine() + "\n")
                .collect(joining())));
        server.createContext("/holds", exchange -> answer(exchange, () -> {
            String id = exchange.getRequestURI().getPath().substring("/holds".length()).replace("/", "");
            if (exchange.getRequestMethod().equals("POST")) {
                id = Long.toString(nextHold.incrementAndGet());
                holds.put(id, (LocalHold) s3.hold(holdRule(readProperties(exchange))));
            }
            LocalHold hold = holds.get(id);
            if (hold == null) {
                throw new IllegalArgumentException("no such hold: " + id);
            }
            if (exchange.getRequestMethod().equals("DELETE")) {
                hold.release();
            }
            Properties state = new Properties();
            state.setProperty("id", id);
            state.setProperty("held", Integer.toString(hold.heldCount()));
            state.setProperty("most-held", Integer.toString(hold.mostHeldCount()));
            return toText(state);
        }));
        server.createContext("/stop", exchange -> {
            answer(exchange, () -> "");
            stop.countDown();
        });
        server.start();
        return server;
    }

    private interface Answer
    {
        String get()
                throws IOException;
    }

    private static void answer(HttpExchange exchange, Answer answer)
            throws IOException
    {
        try (exchange) {
            int status = 200;
            String text;
            try {
                text = answer.get();
            }
            catch (RuntimeException e) {
                status = 400;
                text = e.toString();
            }
            byte[] body = text.getBytes(UTF_8);
            exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    static Properties toProperties(S3Hold.Rule rule)
    {
        Properties properties = new Properties();
        properties.setProperty("bucket", rule.bucket());
        properties.setProperty("key-prefix", rule.keyPrefix());
        properties.setProperty("from-position", Long.toString(rule.fromPosition()));
        properties.setProperty("after-bytes", Long.toString(rule.afterBytes()));
        properties.setProperty("release-at-count", Integer.toString(rule.releaseAtCount()));
        return properties;
    }

    private static S3Hold.Rule holdRule(Properties properties)
    {
        return new S3Hold.Rule(
                properties.getProperty("bucket", ""),
                properties.getProperty("key-prefix", ""),
                Long.parseLong(properties.getProperty("from-position", "0")),
                Long.parseLong(properties.getProperty("after-bytes", "0")),
                Integer.parseInt(properties.getProperty("release-at-count", "0")));
    }

    private static Properties readProperties(HttpExchange exchange)
            throws IOException
    {
        return fromText(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
    }

    static Properties fromText(String text)
            throws IOException
    {
        Properties properties = new Properties();
        properties.load(new StringReader(text));
        return properties;
    }

    static String toText(Properties properties)
            throws IOException
    {
        StringWriter text = new StringWriter();
        properties.store(text, null);
        return text.toString();
    }
}
