package io.cachedhive.attack.setting;

import io.cachedhive.protocol.security.HttpProof.Challenge;
import io.cachedhive.protocol.security.ProvingHttpClient;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

import static com.google.common.base.Throwables.throwIfInstanceOf;
import static java.util.Objects.requireNonNull;

/**
 * The HTTP API of a cache worker.
 */
public final class HttpApi
{
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final URI uri;

    public HttpApi(URI uri)
    {
        this.uri = requireNonNull(uri, "uri is null");
    }

    /**
     * Returns the value of the Host header.
     */
    public String authority()
    {
        return uri.getAuthority();
    }

    public URI uri()
    {
        return uri;
    }

    /**
     * Sends a request without a proof.
     *
     * @param headers names and values in turn
     */
    public HttpResponse<String> send(String method, String path, String... headers)
            throws IOException, InterruptedException
    {
        return send(method, path, BodyPublishers.noBody(), headers);
    }

    public HttpResponse<String> send(String method, String path, BodyPublisher body, String... headers)
            throws IOException, InterruptedException
    {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri.resolve(path)).timeout(TIMEOUT).method(method, body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HTTP.send(request.build(), BodyHandlers.ofString());
    }

    /**
     * Sends a GET with a proof of the secret.
     */
    public HttpResponse<String> prove(String path, String secret)
            throws IOException, InterruptedException
    {
        HttpRequest request = HttpRequest.newBuilder(uri.resolve(path)).timeout(TIMEOUT).build();
        try {
            return ProvingHttpClient.sendAsync(HTTP, request, Optional.of(secret), BodyHandlers.ofString()).get();
        }
        catch (ExecutionException e) {
            throwIfInstanceOf(e.getCause(), IOException.class);
            throw new IOException(e.getCause());
        }
    }

    /**
     * Returns the challenge that a request without a proof is answered with.
     */
    public Optional<Challenge> challenge(String path)
            throws IOException, InterruptedException
    {
        return send("GET", path).headers().allValues("WWW-Authenticate").stream().flatMap(header -> Challenge.parse(header).stream()).findFirst();
    }
}
