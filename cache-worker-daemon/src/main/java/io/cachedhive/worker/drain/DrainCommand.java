package io.cachedhive.worker.drain;

import com.google.common.collect.ImmutableMap;
import io.airlift.configuration.ConfigurationFactory;
import io.airlift.configuration.ConfigurationLoader;
import io.airlift.configuration.ConfigurationUtils;
import io.airlift.units.Duration;
import io.cachedhive.protocol.security.ProvingHttpClient;
import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.security.SharedSecret;
import io.cachedhive.worker.CacheWorkerConfig;

import java.io.IOException;
import java.io.PrintStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

import static java.net.http.HttpClient.Version.HTTP_1_1;

/**
 * {@code cache-worker drain}: drains the running cache worker that the configuration describes, and waits for its end.
 * It is for the preStop hook of a pod, which has the configuration and the shared secret of its cache worker.
 */
public final class DrainCommand
{
    static final int EXIT_DRAINED = 0;
    static final int EXIT_FAILED = 1;
    static final int EXIT_USAGE = 2;

    private static final Set<String> OPTIONS = Set.of("--address", "--deadline");
    private static final String DEFAULT_PORT = "8485";
    private static final long REQUEST_SECONDS = 5;
    private static final long POLL_MILLIS = 200;
    // the cache worker writes its checkpoint after the drain
    private static final long CHECKPOINT_SECONDS = 60;

    // kept here: the level of a logger without a reference is lost
    private static final Logger VALIDATOR_LOG = Logger.getLogger("org.hibernate.validator");

    private DrainCommand() {}

    public static void main(String[] args)
    {
        String config = System.getProperty("config");
        if (config == null) {
            System.err.println("There is no config.properties of a cache worker: name its directory with --etc-dir.");
            System.exit(EXIT_USAGE);
        }
        System.exit(run(List.of(args), Path.of(config), System.getenv(), System.out, System.err));
    }

    static int run(List<String> args, Path config, Map<String, String> environment, PrintStream out, PrintStream err)
    {
        Map<String, String> options = new HashMap<>();
        for (int index = 0; index + 1 < args.size(); index += 2) {
            options.put(args.get(index), args.get(index + 1));
        }
        if (args.size() != 4 || !options.keySet().equals(OPTIONS)) {
            err.println("usage: cache-worker drain --address ADDRESS --deadline DURATION");
            return EXIT_USAGE;
        }
        Duration deadline;
        URI uri;
        Optional<String> secret;
        try {
            deadline = Duration.valueOf(options.get("--deadline"));
            Map<String, String> properties = ConfigurationUtils.replaceEnvironmentVariables(
                    ConfigurationLoader.loadPropertiesFrom(config.toString()),
                    environment,
                    (_, _) -> {});
            secret = secrets(properties).valid().stream().findFirst();
            int port = Integer.parseInt(properties.getOrDefault("http-server.http.port", DEFAULT_PORT));
            uri = new URI("http", null, options.get("--address"), port, "/v1/drain", null, null);
        }
        catch (IOException | URISyntaxException | InvalidSecretException | RuntimeException e) {
            err.printf("The cache worker cannot be drained (%s): correct the options or %s%n", e.getMessage(), config);
            return EXIT_USAGE;
        }
        try (HttpClient client = HttpClient.newBuilder().version(HTTP_1_1).build()) {
            return drain(client, uri, deadline, secret, out, err);
        }
        catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return EXIT_FAILED;
        }
    }

    private static int drain(HttpClient client, URI uri, Duration deadline, Optional<String> secret, PrintStream out, PrintStream err)
            throws InterruptedException
    {
        String problem;
        try {
            HttpResponse<String> started = send(client, "POST", URI.create("%s?deadline=%sms".formatted(uri, deadline.toMillis())), secret);
            if (started.statusCode() != 200) {
                err.printf("%s refuses to drain (HTTP %s): %s%n", uri.getAuthority(), started.statusCode(), started.body().strip());
                return EXIT_FAILED;
            }
            out.println(started.body().strip());
        }
        catch (IOException e) {
            err.printf("%s does not answer (%s): check that the cache worker runs, and that its HTTP API is not HTTPS only%n", uri.getAuthority(), e);
            return EXIT_FAILED;
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(deadline.toMillis()) + TimeUnit.SECONDS.toNanos(CHECKPOINT_SECONDS);
        do {
            Thread.sleep(POLL_MILLIS);
            try {
                problem = send(client, "GET", uri, secret).body().strip();
            }
            catch (ConnectException e) {
                // the process has closed its ports
                out.println("The cache worker has stopped.");
                return EXIT_DRAINED;
            }
            catch (IOException e) {
                problem = e.toString();
            }
        }
        while (System.nanoTime() - end < 0);
        err.printf("%s still runs after the deadline of the drain: %s%n", uri.getAuthority(), problem);
        return EXIT_FAILED;
    }

    private static HttpResponse<String> send(HttpClient client, String method, URI uri, Optional<String> secret)
            throws IOException, InterruptedException
    {
        HttpRequest request = HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()).build();
        CompletableFuture<HttpResponse<String>> response = ProvingHttpClient.sendAsync(client, request, secret, BodyHandlers.ofString());
        try {
            return response.get(REQUEST_SECONDS, TimeUnit.SECONDS);
        }
        catch (TimeoutException e) {
            response.cancel(true);
            throw new IOException("no answer within %s s".formatted(REQUEST_SECONDS), e);
        }
        catch (ExecutionException e) {
            if (e.getCause() instanceof ConnectException refused) {
                throw refused;
            }
            throw new IOException(e.getCause());
        }
    }

    private static Secrets secrets(Map<String, String> properties)
            throws InvalidSecretException
    {
        // its version does not interest the operator
        VALIDATOR_LOG.setLevel(Level.WARNING);
        CacheWorkerConfig config = new ConfigurationFactory(ImmutableMap.copyOf(properties)).build(CacheWorkerConfig.class);
        return SharedSecret.configured("internal-communication.shared-secret", config.getSharedSecret(), config.getSharedSecretFile());
    }
}
