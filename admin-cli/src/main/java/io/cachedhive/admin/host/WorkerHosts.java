package io.cachedhive.admin.host;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.cachedhive.admin.host.HostAnswer.Answered;
import io.cachedhive.admin.host.HostAnswer.Failed;
import io.cachedhive.admin.tls.TlsFailure;
import io.cachedhive.protocol.security.ProvingHttpClient;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.IntConsumer;

import static java.net.http.HttpClient.Redirect.NEVER;
import static java.net.http.HttpClient.Version.HTTP_1_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

/**
 * Asks the cache workers of many hosts at once, each for no longer than the time-out.
 */
public final class WorkerHosts
        implements AutoCloseable
{
    // some MB hold the counters of ten thousand tables; what sends more is no cache worker
    private static final long MAX_BODY_BYTES = 64 << 20;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final List<WorkerHost> hosts;
    private final Duration timeout;
    private final Function<WorkerHost, Optional<String>> secret;
    private final HttpClient client;

    /// @param secret the workers' shared secret, which is proven and not sent
    /// @param tls for hosts that are reached by HTTPS
    public WorkerHosts(List<WorkerHost> hosts, Duration timeout, Optional<String> secret, SSLContext tls)
    {
        this(hosts, timeout, _ -> secret, tls);
    }

    /// @param secret of each host
    public WorkerHosts(List<WorkerHost> hosts, Duration timeout, Function<WorkerHost, Optional<String>> secret, SSLContext tls)
    {
        this.hosts = List.copyOf(hosts);
        this.timeout = requireNonNull(timeout, "timeout is null");
        this.secret = requireNonNull(secret, "secret is null");
        this.client = HttpClient.newBuilder()
                .version(HTTP_1_1)
                .sslContext(tls)
                .followRedirects(NEVER)
                // shorter than the whole, so that it says first which of the two it was
                .connectTimeout(timeout.multipliedBy(3).dividedBy(4))
                .build();
    }

    /// Asks every host for `path`.
    ///
    /// @param progress is told how many hosts are done, after each
    /// @return in the order of the hosts
    public List<HostAnswer> ask(String path, IntConsumer progress)
    {
        return ask("GET", path, progress);
    }

    /// Asks each of some hosts for a path of its own.
    ///
    /// @return in the order of the map
    public List<HostAnswer> ask(Map<WorkerHost, String> paths)
    {
        List<CompletableFuture<HostAnswer>> answers = paths.entrySet().stream()
                .map(path -> ask(path.getKey(), "GET", path.getValue()))
                .toList();
        return answers.stream()
                .map(CompletableFuture::join)
                .toList();
    }

    /// As {@link #ask(String, IntConsumer)}, with another method of HTTP and an empty body.
    public List<HostAnswer> ask(String method, String path, IntConsumer progress)
    {
        int[] done = {0};
        List<CompletableFuture<HostAnswer>> answers = hosts.stream()
                .map(host -> ask(host, method, path).thenApply(answer -> {
                    synchronized (done) {
                        done[0]++;
                        progress.accept(done[0]);
                    }
                    return answer;
                }))
                .toList();
        return answers.stream()
                .map(CompletableFuture::join)
                .toList();
    }

    private CompletableFuture<HostAnswer> ask(WorkerHost host, String method, String path)
    {
        Optional<URI> uri = host.toUri(path);
        if (uri.isEmpty()) {
            return CompletableFuture.completedFuture(new Failed(host, "%s cannot stand in a URL: set `address` of this host in the hosts file.".formatted(host.name())));
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(uri.get())
                .method(method, BodyPublishers.noBody())
                .header("Accept", "application/json");
        CompletableFuture<HttpResponse<byte[]>> response = ProvingHttpClient.sendAsync(
                client,
                request.build(),
                secret.apply(host),
                BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_BODY_BYTES));
        // the client's own time-out ends with the headers; a body may drip for ever
        return response.copy()
                .orTimeout(timeout.toMillis(), MILLISECONDS)
                .handle((answer, failure) -> {
                    if (failure != null) {
                        response.cancel(true);
                        return new Failed(host, describe(host, failure));
                    }
                    return read(host, path, answer);
                });
    }

    private HostAnswer read(WorkerHost host, String path, HttpResponse<byte[]> response)
    {
        int status = response.statusCode();
        if (status == 401 || status == 403) {
            String remedy = secret.apply(host).isEmpty() ?
                    "name a file with the value of its internal-communication.shared-secret in --secret-file" :
                    "compare the file of --secret-file with its internal-communication.shared-secret, and the clocks of both machines, which may differ by a minute";
            return new Failed(host, "%s requires the shared secret (HTTP %s): %s.".formatted(host, status, remedy), true);
        }
        if (status == 400 || status == 409) {
            return new Failed(host, "%s refuses %s: %s.".formatted(host, path, new String(response.body(), UTF_8).strip()));
        }
        if (status >= 500) {
            return new Failed(host, "%s failed to answer %s (HTTP %s): see var/log/server.log on that host.".formatted(host, path, status));
        }
        if (status == 200) {
            try {
                JsonNode content = JSON.readTree(new String(response.body(), UTF_8));
                if (content != null && content.isObject()) {
                    return new Answered(host, content);
                }
            }
            catch (JsonProcessingException _) {
                // what it is not is said below
            }
        }
        return new Failed(host, notCacheWorker(host, "its answer to %s is not a cache worker's (HTTP %s)".formatted(path, status)));
    }

    private static String notCacheWorker(WorkerHost host, String why)
    {
        String fix = host.https() ?
                "name the port of http-server.https.port in the worker's etc/config.properties" :
                "name the port of http-server.http.port in the worker's etc/config.properties, or set http-scheme to https if it has HTTPS only";
        return "What listens at %s is not the HTTP%s API of a cache worker (%s): %s.".formatted(host, host.https() ? "S" : "", why, fix);
    }

    private String describe(WorkerHost host, Throwable failure)
    {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        // a name that does not resolve is a connect failure, too
        for (Throwable inner = cause; inner != null; inner = inner.getCause()) {
            if (inner instanceof UnresolvedAddressException || inner instanceof UnknownHostException) {
                return "The name %s is unknown to this machine: check the spelling, or give the IP address.".formatted(host.name());
            }
        }
        return switch (cause) {
            case HttpConnectTimeoutException _ -> ("%s cannot be reached within %s ms: check that the host is up and that no firewall stands between, " +
                    "or allow more with --timeout.").formatted(host, timeout.toMillis());
            case TimeoutException _, HttpTimeoutException _ -> ("%s does not answer within %s ms: see whether its cache worker hangs " +
                    "(bin/launcher status, var/log/server.log), or allow more with --timeout.").formatted(host, timeout.toMillis());
            case ConnectException _ -> ("Nothing listens at %s: start the cache worker there (bin/launcher start), and check that http-server.http.port " +
                    "and node.bind-ip in its etc/ are what --hosts names.").formatted(host);
            case SSLException e -> "%s cannot be reached by %s (%s): compare http-scheme and tls in the hosts file with http-server.https.* in its etc/config.properties."
                    .formatted(host, host.https() ? "HTTPS" : "HTTP", TlsFailure.describe(e));
            case IOException e -> notCacheWorker(host, e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage());
            default -> throw new IllegalStateException("asking %s failed in a way that nothing is known of".formatted(host), cause);
        };
    }

    @Override
    public void close()
    {
        client.shutdownNow();
    }
}
