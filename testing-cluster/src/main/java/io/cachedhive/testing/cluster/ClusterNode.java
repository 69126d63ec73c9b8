package io.cachedhive.testing.cluster;

import com.google.common.collect.ImmutableList;
import io.cachedhive.protocol.security.ProvingHttpClient;
import io.cachedhive.testing.cluster.home.CacheWorkerHome;
import io.cachedhive.testing.cluster.home.ServerHome;
import io.cachedhive.testing.cluster.home.TrinoHome;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import static com.google.common.base.Preconditions.checkState;
import static com.google.common.base.Throwables.throwIfInstanceOf;
import static java.lang.ProcessBuilder.Redirect.appendTo;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * One server process of a cluster: a Trino server or a cache worker, run from its home by {@code bin/launcher run}.
 * <p>
 * The launcher replaces itself with the JVM, so the process started is the server, and a kill hits it and nothing else.
 * Methods may be called from any thread, but start, stop, kill and restart of one node by one thread at a time.
 */
public final class ClusterNode
{
    /** Long enough for a machine on which many others build. */
    public static final Duration DEFAULT_START_TIMEOUT = Duration.ofMinutes(5);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration CHANGE_TIMEOUT = Duration.ofSeconds(30);
    // without a user Trino shows its state to nobody
    private static final String USER = "quickstart";
    private static final Duration POLL_INTERVAL = Duration.ofMillis(100);
    private static final int TAIL_LINES = 25;
    private static final int TAIL_BYTES = 64 * 1024;
    private static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

    private final String name;
    private final ServerHome home;
    private final Path logFile;
    private final ProcessFile processFile;
    private volatile Optional<Process> process = Optional.empty();
    private volatile boolean wanted;
    private volatile Map<String, String> environment = Map.of();

    private ClusterNode(String name, ServerHome home)
    {
        this.name = requireNonNull(name, "name is null");
        this.home = requireNonNull(home, "home is null");
        this.logFile = home.path().resolve("var/log/output.log");
        this.processFile = ProcessFile.of(home.path());
    }

    /** A node that is not running yet. */
    public static ClusterNode of(String name, ServerHome home)
    {
        return new ClusterNode(name, home);
    }

    public String name()
    {
        return name;
    }

    public ServerHome home()
    {
        return home;
    }

    public String address()
    {
        return home.address();
    }

    public URI httpUri()
    {
        return home.httpUri();
    }

    /** Standard output and error of all runs, one after the other. */
    public Path logFile()
    {
        return logFile;
    }

    /** Variables that the next starts add to the environment of the process, instead of those of an earlier call. */
    public void setEnvironment(Map<String, String> environment)
    {
        this.environment = Map.copyOf(environment);
    }

    /** Starts the process and returns at once; see {@link #awaitReady()}. */
    public void start()
    {
        if (isAlive()) {
            throw new ClusterException("%s runs already, pid %s".formatted(name, pid()));
        }
        try {
            Files.createDirectories(logFile.getParent());
            // that of a process that has ended: the launcher refuses to start if another one has its number by now
            Files.deleteIfExists(home.path().resolve("var/run/launcher.pid"));
            ProcessBuilder builder = new ProcessBuilder(home.launcher().toString(), "run", "--jvm-dir", System.getProperty("java.home"))
                    .directory(home.path().toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(appendTo(logFile.toFile()));
            builder.environment().putAll(environment);
            Process started = builder.start();
            wanted = true;
            process = Optional.of(started);
            started.getOutputStream().close();
            processFile.write(started.toHandle());
        }
        catch (IOException e) {
            throw new ClusterException("could not start %s: %s".formatted(name, e.getMessage()), e);
        }
    }

    /** Waits until the server says that it is ready, at most {@link #DEFAULT_START_TIMEOUT}. */
    public void awaitReady()
    {
        awaitReady(DEFAULT_START_TIMEOUT);
    }

    /**
     * @throws ClusterException if the process ends or is not ready in time
     */
    public void awaitReady(Duration timeout)
    {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!isReady()) {
            checkAlive();
            if (System.nanoTime() >= deadline) {
                throw new ClusterException("%s was not ready within %s%s".formatted(name, timeout, tailText()));
            }
            pause();
        }
    }

    /** Whether the server answers and has finished starting. */
    public boolean isReady()
    {
        return switch (home) {
            case TrinoHome _ -> get("/v1/info").map(info -> info.replace(" ", "").contains("\"starting\":false")).orElse(false);
            case CacheWorkerHome _ -> get("/v1/status").isPresent();
        };
    }

    /** The body of a successful answer to a GET, or nothing. */
    public Optional<String> get(String path)
    {
        HttpRequest request = HttpRequest.newBuilder(URI.create(httpUri() + path.replace("[", "%5B").replace("]", "%5D")))
                .timeout(Duration.ofSeconds(5))
                .header("X-Trino-User", USER)
                .build();
        try {
            HttpResponse<String> response = send(request);
            return response.statusCode() == 200 ? Optional.of(response.body()) : Optional.empty();
        }
        catch (IOException _) {
            // nobody listens yet, or not any more
            return Optional.empty();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted", e);
        }
    }

    /** Sends a request. Cache workers get a proof of their shared secret. */
    private HttpResponse<String> send(HttpRequest request)
            throws IOException, InterruptedException
    {
        Optional<String> secret = switch (home) {
            case TrinoHome _ -> Optional.empty();
            case CacheWorkerHome worker -> Optional.of(worker.sharedSecret());
        };
        CompletableFuture<HttpResponse<String>> response = ProvingHttpClient.sendAsync(HTTP, request, secret, BodyHandlers.ofString(UTF_8));
        try {
            return response.get();
        }
        catch (ExecutionException e) {
            throwIfInstanceOf(e.getCause(), IOException.class);
            throw new ClusterException("%s: %s".formatted(request.uri(), e.getCause()), e);
        }
        finally {
            response.cancel(true);
        }
    }

    public boolean isAlive()
    {
        return process.map(Process::isAlive).orElse(false);
    }

    /**
     * @throws ClusterException if it was never started
     */
    public long pid()
    {
        return process.orElseThrow(() -> new ClusterException(name + " was not started")).pid();
    }

    /** The exit code of a process that has ended; 137 after a kill -9. */
    public OptionalInt exitCode()
    {
        return process.filter(ended -> !ended.isAlive())
                .map(ended -> OptionalInt.of(ended.exitValue()))
                .orElse(OptionalInt.empty());
    }

    /** Throws if the process was started, nobody stopped or killed it through this node, and it has ended. */
    public void checkAlive()
    {
        if (wanted && !isAlive()) {
            throw new ClusterException("%s ended with exit code %s%s".formatted(name, exitCode().orElse(-1), tailText()));
        }
    }

    /** Asks the process to end (SIGTERM) and waits for it; kills it after 30 s. */
    public void stop()
    {
        wanted = false;
        process.ifPresent(running -> {
            running.destroy();
            awaitEnd(running);
        });
    }

    /** SIGTERM without waiting; {@link #stop} waits. */
    void beginStop()
    {
        wanted = false;
        process.ifPresent(Process::destroy);
    }

    /**
     * Shuts a Trino worker down gracefully: it is given no new tasks as soon as the coordinator knows, within some 10 s, and ends when it has finished those that it has.
     * Returns at once; {@link #awaitEnd} waits. The worker needs {@link TrinoHome.Builder#accessControl allow-all}, since Trino's default lets nobody do this.
     */
    public void shutDownGracefully()
    {
        checkState(home instanceof TrinoHome, "%s is no Trino server", name);
        endsBySelf("PUT", "/v1/info/state", "\"SHUTTING_DOWN\"");
    }

    /** Drains a cache worker: it hands its blocks over and ends, at the deadline in any case. Returns at once; {@link #awaitEnd} waits. */
    public void drain(Duration deadline)
    {
        checkState(home instanceof CacheWorkerHome, "%s is no cache worker", name);
        endsBySelf("POST", "/v1/drain?deadline=%sms".formatted(deadline.toMillis()), "");
    }

    private void endsBySelf(String method, String path, String body)
    {
        HttpRequest request = HttpRequest.newBuilder(URI.create(httpUri() + path))
                .timeout(CHANGE_TIMEOUT)
                .header("X-Trino-User", USER)
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body))
                .build();
        wanted = false;
        try {
            HttpResponse<String> response = send(request);
            if (response.statusCode() != 200) {
                throw new ClusterException("%s answered %s %s with %s: %s".formatted(name, method, path, response.statusCode(), response.body()));
            }
        }
        catch (IOException e) {
            throw new ClusterException("%s did not answer %s %s: %s".formatted(name, method, path, e.getMessage()), e);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted", e);
        }
    }

    /**
     * Waits for a process that ends by itself.
     *
     * @return its exit code
     * @throws ClusterException if it does not end in time
     */
    public int awaitEnd(Duration timeout)
    {
        Process running = process.orElseThrow(() -> new ClusterException(name + " was not started"));
        try {
            if (!running.waitFor(timeout.toMillis(), MILLISECONDS)) {
                throw new ClusterException("%s did not end within %s%s".formatted(name, timeout, tailText()));
            }
            processFile.delete();
            return running.exitValue();
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted", e);
        }
    }

    /** SIGKILL; returns when the process is gone. */
    public void kill()
    {
        wanted = false;
        process.ifPresent(running -> {
            running.destroyForcibly();
            awaitEnd(running);
        });
    }

    /** Stops if it runs, starts, and waits until it is ready. */
    public void restart()
    {
        stop();
        start();
        awaitReady();
    }

    private void awaitEnd(Process running)
    {
        try {
            if (!running.waitFor(STOP_TIMEOUT.toMillis(), MILLISECONDS)) {
                running.destroyForcibly().waitFor();
            }
            processFile.delete();
        }
        catch (InterruptedException e) {
            running.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted", e);
        }
    }

    /** The last lines of the output. */
    public List<String> logTail(int lines)
    {
        if (!Files.exists(logFile)) {
            return ImmutableList.of();
        }
        try (RandomAccessFile file = new RandomAccessFile(logFile.toFile(), "r")) {
            long from = Math.max(0, file.length() - TAIL_BYTES);
            file.seek(from);
            byte[] bytes = new byte[(int) (file.length() - from)];
            file.readFully(bytes);
            List<String> all = new String(bytes, UTF_8).lines().toList();
            return all.subList(Math.max(0, all.size() - lines), all.size());
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String tailText()
    {
        return "; the end of %s:\n%s".formatted(logFile, String.join("\n", logTail(TAIL_LINES)));
    }

    static void pause()
    {
        try {
            Thread.sleep(POLL_INTERVAL);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ClusterException("interrupted", e);
        }
    }

    @Override
    public String toString()
    {
        return "%s (%s)".formatted(name, httpUri());
    }
}
