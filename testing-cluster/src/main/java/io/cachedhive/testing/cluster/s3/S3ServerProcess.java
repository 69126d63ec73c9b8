package io.cachedhive.testing.cluster.s3;

import com.google.common.collect.ImmutableList;

import java.io.IOException;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import static com.google.common.collect.Iterables.getLast;
import static java.lang.ProcessBuilder.Redirect.appendTo;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * An S3 server in its own process ({@link S3ServerMain}), so that its work and its garbage are not those of the program under test.
 * It ends with this process, whatever ends it.
 */
public final class S3ServerProcess
        implements S3Service
{
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

    private final Process process;
    private final URI endpoint;
    private final URI control;
    private final S3RequestLogFile log;
    private final ObjectDirectory objects;
    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    private S3ServerProcess(Process process, URI endpoint, URI control, Path directory)
    {
        this.process = requireNonNull(process, "process is null");
        this.endpoint = requireNonNull(endpoint, "endpoint is null");
        this.control = requireNonNull(control, "control is null");
        this.log = S3RequestLogFile.open(directory.resolve(S3ServerMain.LOG_FILE));
        this.objects = new ObjectDirectory(directory.resolve(S3ServerMain.OBJECTS_DIRECTORY));
    }

    /** The directory keeps objects and log; a server started on it again serves the same objects. */
    public static Builder builder(Path directory)
    {
        return new Builder(directory);
    }

    @Override
    public URI endpoint()
    {
        return endpoint;
    }

    /** The address of the control endpoint, for another process's tools. */
    public URI control()
    {
        return control;
    }

    public ProcessHandle handle()
    {
        return process.toHandle();
    }

    public Path logFile()
    {
        return log.file();
    }

    @Override
    public S3RequestLog log()
    {
        return log;
    }

    @Override
    public List<S3Request> inFlight()
    {
        return call("GET", "/in-flight", "").lines()
                .map(S3Request::parse)
                .collect(ImmutableList.toImmutableList());
    }

    @Override
    public S3Faults faults()
    {
        return S3Faults.fromProperties(callForProperties("GET", "/faults", new Properties()));
    }

    @Override
    public void setFaults(S3Faults faults)
    {
        callForProperties("PUT", "/faults", faults.toProperties());
    }

    @Override
    public S3Hold hold(S3Hold.Rule rule)
    {
        return new RemoteHold(rule, callForProperties("POST", "/holds", S3ServerMain.toProperties(rule)).getProperty("id"));
    }

    @Override
    public void setLastModified(String bucket, String key, Instant time)
    {
        objects.setLastModified(bucket, key, time);
    }

    @Override
    public void close()
    {
        try {
            // the end of its standard input tells it to stop
            process.getOutputStream().close();
        }
        catch (IOException _) {
            // it has gone
        }
        try {
            if (!process.waitFor(10, SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        }
        catch (InterruptedException _) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        finally {
            http.close();
        }
    }

    private Properties callForProperties(String method, String path, Properties body)
    {
        try {
            return S3ServerMain.fromText(call(method, path, S3ServerMain.toText(body)));
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String call(String method, String path, String body)
    {
        HttpRequest request = HttpRequest.newBuilder(control.resolve(path))
                .method(method, method.equals("GET") ? BodyPublishers.noBody() : BodyPublishers.ofString(body, UTF_8))
                .timeout(Duration.ofSeconds(10))
                .build();
        try {
            HttpResponse<String> response = http.send(request, BodyHandlers.ofString(UTF_8));
            if (response.statusCode() != 200) {
                throw new IllegalStateException("S3 server answered %s %s with %s: %s".formatted(method, path, response.statusCode(), response.body()));
            }
            return response.body();
        }
        catch (IOException e) {
            throw new UncheckedIOException("S3 server does not answer at %s: %s".formatted(control, e), e);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private final class RemoteHold
            implements S3Hold
    {
        private final Rule rule;
        private final String id;

        RemoteHold(Rule rule, String id)
        {
            this.rule = requireNonNull(rule, "rule is null");
            this.id = requireNonNull(id, "id is null");
        }

        @Override
        public int heldCount()
        {
            return Integer.parseInt(state().getProperty("held"));
        }

        @Override
        public void awaitHeld(int count, Duration timeout)
        {
            long deadline = System.nanoTime() + timeout.toNanos();
            while (true) {
                int mostHeld = Integer.parseInt(state().getProperty("most-held"));
                if (mostHeld >= count) {
                    return;
                }
                if (System.nanoTime() >= deadline) {
                    throw new IllegalStateException("%s GETs were held within %s, not %s: %s".formatted(mostHeld, timeout, count, rule));
                }
                pauseBetweenPolls();
            }
        }

        @Override
        public void release()
        {
            callForProperties("DELETE", "/holds/" + id, new Properties());
        }

        private Properties state()
        {
            return callForProperties("GET", "/holds/" + id, new Properties());
        }
    }

    private static void pauseBetweenPolls()
    {
        try {
            Thread.sleep(POLL_INTERVAL);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    public static final class Builder
    {
        private final Path directory;
        private String address = "127.0.0.1";
        private int port;
        private int heapMegabytes = 512;
        private final List<String> buckets = new ArrayList<>();
        private S3Faults faults = S3Faults.NONE;

        private Builder(Path directory)
        {
            this.directory = requireNonNull(directory, "directory is null");
        }

        public Builder address(String address)
        {
            this.address = requireNonNull(address, "address is null");
            return this;
        }

        /** 0, the default, takes a free one. */
        public Builder port(int port)
        {
            this.port = port;
            return this;
        }

        public Builder heapMegabytes(int heapMegabytes)
        {
            this.heapMegabytes = heapMegabytes;
            return this;
        }

        public Builder bucket(String bucket)
        {
            buckets.add(requireNonNull(bucket, "bucket is null"));
            return this;
        }

        public Builder faults(S3Faults faults)
        {
            this.faults = requireNonNull(faults, "faults is null");
            return this;
        }

        /**
         * Returns when the server answers.
         *
         * @throws IllegalStateException with the end of its output if it ends or does not answer
         */
        public S3ServerProcess start()
        {
            Path output = directory.resolve("server.out");
            Path addressFile = directory.resolve(S3ServerMain.ADDRESS_FILE);
            try {
                Files.createDirectories(directory);
                Files.deleteIfExists(addressFile);
                Process process = new ProcessBuilder(command())
                        .redirectErrorStream(true)
                        .redirectOutput(appendTo(output.toFile()))
                        .start();
                S3ServerProcess s3 = awaitAddress(process, addressFile, output);
                if (!faults.equals(S3Faults.NONE)) {
                    s3.setFaults(faults);
                }
                return s3;
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private List<String> command()
        {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx%sm".formatted(heapMegabytes),
                    "-XX:+UseSerialGC",
                    "-XX:+ExitOnOutOfMemoryError",
                    "-cp", System.getProperty("java.class.path"),
                    S3ServerMain.class.getName(),
                    "--directory", directory.toString(),
                    "--address", address,
                    "--port", Integer.toString(port)));
            buckets.forEach(bucket -> command.addAll(List.of("--bucket", bucket)));
            return command;
        }

        private S3ServerProcess awaitAddress(Process process, Path addressFile, Path output)
                throws IOException
        {
            long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
            while (!Files.exists(addressFile)) {
                if (!process.isAlive()) {
                    throw new IllegalStateException("S3 server did not start: %s (%s)".formatted(getLast(Files.readAllLines(output), "no output"), output));
                }
                if (System.nanoTime() >= deadline) {
                    process.destroyForcibly();
                    throw new IllegalStateException("S3 server did not answer within %s: see %s".formatted(START_TIMEOUT, output));
                }
                pauseBetweenPolls();
            }
            Properties properties = S3ServerMain.fromText(Files.readString(addressFile));
            return new S3ServerProcess(
                    process,
                    URI.create(properties.getProperty("endpoint")),
                    URI.create(properties.getProperty("control")),
                    directory);
        }
    }
}
