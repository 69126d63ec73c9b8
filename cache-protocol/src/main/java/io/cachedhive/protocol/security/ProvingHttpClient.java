package io.cachedhive.protocol.security;

import io.cachedhive.protocol.security.HttpProof.Challenge;
import io.cachedhive.protocol.security.HttpProof.Request;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Sends requests to the HTTP API of a cache worker, and answers its challenges.
 */
public final class ProvingHttpClient
{
    private static final int UNAUTHORIZED = 401;

    private ProvingHttpClient() {}

    /**
     * Sends a request. If the cache worker challenges it, this sends the request again with a proof of the secret.
     *
     * @param secret proven and never sent; without one, the challenge is the response
     * @return the response; its cancellation cancels the request
     */
    public static <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpClient client, HttpRequest request, Optional<String> secret, BodyHandler<T> bodyHandler)
    {
        CompletableFuture<HttpResponse<T>> result = new CompletableFuture<>();
        send(client, request, bodyHandler, result).whenComplete((response, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
                return;
            }
            Optional<Challenge> challenge = response.statusCode() == UNAUTHORIZED ? challenge(response) : Optional.empty();
            if (secret.isEmpty() || challenge.isEmpty()) {
                result.complete(response);
                return;
            }
            Request signed = Request.of(request.method(), request.uri(), hostHeader(request.uri()));
            HttpRequest proven = HttpRequest.newBuilder(request, (_, _) -> true)
                    .setHeader("Authorization", HttpProof.authorization(secret.get(), signed, challenge.get(), System.currentTimeMillis()))
                    .build();
            send(client, proven, bodyHandler, result).whenComplete((provenResponse, provenFailure) -> {
                if (provenFailure != null) {
                    result.completeExceptionally(provenFailure);
                }
                else {
                    result.complete(provenResponse);
                }
            });
        });
        return result;
    }

    private static <T> CompletableFuture<HttpResponse<T>> send(
            HttpClient client,
            HttpRequest request,
            BodyHandler<T> bodyHandler,
            CompletableFuture<HttpResponse<T>> result)
    {
        // of other versions, the Host header may not be the one that is signed
        CompletableFuture<HttpResponse<T>> response = client.sendAsync(
                HttpRequest.newBuilder(request, (_, _) -> true).version(Version.HTTP_1_1).build(),
                bodyHandler);
        result.whenComplete((_, _) -> {
            if (result.isCancelled()) {
                response.cancel(true);
            }
        });
        return response;
    }

    private static Optional<Challenge> challenge(HttpResponse<?> response)
    {
        return response.headers().allValues("WWW-Authenticate").stream()
                .flatMap(header -> Challenge.parse(header).stream())
                .findFirst();
    }

    /**
     * Returns the Host header that Java's HTTP client sends: without the default port of the scheme.
     */
    static String hostHeader(URI uri)
    {
        int defaultPort = "https".equalsIgnoreCase(uri.getScheme()) ? 443 : 80;
        return uri.getPort() == -1 || uri.getPort() == defaultPort ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
    }
}
