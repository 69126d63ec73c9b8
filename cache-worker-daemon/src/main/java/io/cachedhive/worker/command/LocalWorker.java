package io.cachedhive.worker.command;

import com.google.common.collect.ImmutableMap;
import io.airlift.configuration.ConfigurationFactory;
import io.airlift.configuration.ConfigurationLoader;
import io.airlift.configuration.ConfigurationUtils;
import io.cachedhive.protocol.security.ProvingHttpClient;
import io.cachedhive.protocol.security.SecretFile.InvalidSecretException;
import io.cachedhive.protocol.security.Secrets;
import io.cachedhive.protocol.security.SharedSecret;
import io.cachedhive.worker.CacheWorkerConfig;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;

import static java.net.http.HttpClient.Version.HTTP_1_1;
import static java.util.Objects.requireNonNull;

/**
 * The running cache worker that a configuration describes, as the commands on its host reach it.
 */
final class LocalWorker
        implements AutoCloseable
{
    private static final String DEFAULT_PORT = "8485";
    private static final long REQUEST_SECONDS = 5;

    // kept here: the level of a logger without a reference is lost
    private static final Logger VALIDATOR_LOG = Logger.getLogger("org.hibernate.validator");

    private final URI uri;
    private final Optional<String> secret;
    private final HttpClient client;

    private LocalWorker(URI uri, Optional<String> secret)
    {
        this.uri = requireNonNull(uri, "uri is null");
        this.secret = requireNonNull(secret, "secret is null");
        this.client = HttpClient.newBuilder().version(HTTP_1_1).build();
    }

    /**
     * Reads the port and the shared secret from the configuration of the cache worker.
     *
     * @param address its host name or address
     * @throws IOException if the configuration cannot be read
     * @throws InvalidSecretException if it has an invalid secret
     * @throws URISyntaxException if the address is not one
     */
    static LocalWorker read(String address, Path config, Map<String, String> environment)
            throws IOException, InvalidSecretException, URISyntaxException
    {
        Map<String, String> properties = ConfigurationUtils.replaceEnvironmentVariables(
                ConfigurationLoader.loadPropertiesFrom(config.toString()),
                environment,
                (_, _) -> {});
        Optional<String> secret = secrets(properties).valid().stream().findFirst();
        int port = Integer.parseInt(properties.getOrDefault("http-server.http.port", DEFAULT_PORT));
        return new LocalWorker(new URI("http", null, address, port, "/", null, null), secret);
    }

    /**
     * Host and port, for messages.
     */
    String authority()
    {
        return uri.getAuthority();
    }

    /**
     * Sends a request without a body.
     *
     * @throws ConnectException if nothing listens there
     */
    HttpResponse<String> send(String method, String path)
            throws IOException, InterruptedException
    {
        HttpRequest request = HttpRequest.newBuilder(uri.resolve(path)).method(method, BodyPublishers.noBody()).build();
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

    @Override
    public void close()
    {
        client.shutdownNow();
    }
}
