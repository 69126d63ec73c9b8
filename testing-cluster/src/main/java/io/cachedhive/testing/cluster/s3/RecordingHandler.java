package io.cachedhive.testing.cluster.s3;

import com.google.common.collect.ImmutableList;
import org.gaul.shaded.org.eclipse.jetty.http.HttpFields;
import org.gaul.shaded.org.eclipse.jetty.http.HttpHeader;
import org.gaul.shaded.org.eclipse.jetty.io.Content;
import org.gaul.shaded.org.eclipse.jetty.server.Handler;
import org.gaul.shaded.org.eclipse.jetty.server.Request;
import org.gaul.shaded.org.eclipse.jetty.server.Response;
import org.gaul.shaded.org.eclipse.jetty.util.Callback;

import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.ABORTED;
import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.COMPLETED;
import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.IN_FLIGHT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;

/**
 * Stands in front of S3Proxy's own handler in its HTTP server: records every request, and delays, holds or refuses it as ordered.
 * It blocks the request's thread to do so; the server has threads enough.
 */
final class RecordingHandler
        extends Handler.Wrapper
{
    // shorter waits are saved up: parking for less costs more than it delays
    private static final long SHORTEST_PAUSE_NANOS = MILLISECONDS.toNanos(1);
    // how far a stream that was itself slow may catch up with its bandwidth
    private static final long LONGEST_CATCH_UP_NANOS = MILLISECONDS.toNanos(20);

    private final WritableS3RequestLog log;
    private final Set<Exchange> inFlight = ConcurrentHashMap.newKeySet();
    private final List<LocalHold> holds = new CopyOnWriteArrayList<>();
    private volatile ArmedFaults faults;

    private final List<S3Reader> readers;

    /**
     * @param readers whose forbidden GETs and HEADs are refused
     */
    RecordingHandler(WritableS3RequestLog log, S3Faults faults, List<S3Reader> readers)
    {
        this.readers = ImmutableList.copyOf(readers);
        this.log = requireNonNull(log, "log is null");
        setFaults(faults);
    }

    List<S3Request> inFlight()
    {
        return inFlight.stream()
                .map(exchange -> exchange.toRequest(IN_FLIGHT))
                .collect(ImmutableList.toImmutableList());
    }

    S3Faults faults()
    {
        return faults.faults();
    }

    void setFaults(S3Faults faults)
    {
        this.faults = new ArmedFaults(faults, new Random(faults.seed()));
    }

    S3Hold hold(S3Hold.Rule rule)
    {
        LocalHold hold = new LocalHold(rule, holds::remove);
        holds.add(hold);
        return hold;
    }

    void releaseAll()
    {
        holds.forEach(LocalHold::release);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback)
            throws Exception
    {
        Exchange exchange = new Exchange(request);
        inFlight.add(exchange);
        RecordingResponse recordingResponse = new RecordingResponse(request, response, exchange);
        Callback recordingCallback = new Callback.Nested(callback)
        {
            @Override
            public void succeeded()
            {
                exchange.end(response.getStatus(), COMPLETED);
                super.succeeded();
            }

            @Override
            public void failed(Throwable failure)
            {
                exchange.end(response.getStatus(), ABORTED);
                super.failed(failure);
            }
        };
        try {
            ArmedFaults faults = this.faults;
            Duration latency = faults.latency(exchange.operation);
            if (!latency.isZero()) {
                pause(latency.toNanos());
            }
            if (faults.unavailable(exchange.operation)) {
                refuse(request, recordingResponse, recordingCallback, 503, "<Code>SlowDown</Code><Message>Please reduce your request rate.</Message>");
                return true;
            }
            if (isForbidden(request, exchange)) {
                refuse(request, recordingResponse, recordingCallback, 403, "<Code>AccessDenied</Code><Message>Access Denied</Message>");
                return true;
            }
            for (LocalHold hold : holds) {
                if (hold.rule().afterBytes() == 0 && hold.rule().matches(exchange.toRequest(IN_FLIGHT))) {
                    hold.await();
                }
            }
            boolean handled = super.handle(request, recordingResponse, recordingCallback);
            if (!handled) {
                exchange.end(404, COMPLETED);
            }
            return handled;
        }
        catch (Throwable e) {
            exchange.end(response.getStatus(), ABORTED);
            throw e;
        }
    }

    private boolean isForbidden(Request request, Exchange exchange)
    {
        if (exchange.operation != S3Operation.GET_OBJECT && exchange.operation != S3Operation.HEAD_OBJECT) {
            return false;
        }
        String authorization = Optional.ofNullable(request.getHeaders().get(HttpHeader.AUTHORIZATION)).orElse("");
        String object = exchange.bucket.orElseThrow() + "/" + exchange.key.orElseThrow();
        return readers.stream().anyMatch(reader -> authorization.contains("Credential=%s/".formatted(reader.accessKey())) && object.startsWith(reader.forbiddenPrefix()));
    }

    private static void refuse(Request request, Response response, Callback callback, int status, String error)
    {
        response.setStatus(status);
        if (request.getMethod().equals("HEAD")) {
            response.write(true, null, callback);
            return;
        }
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/xml");
        Content.Sink.write(
                response,
                true,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>%s</Error>".formatted(error),
                callback);
    }

    private static void pause(long nanos)
    {
        long deadline = System.nanoTime() + nanos;
        while (true) {
            long left = deadline - System.nanoTime();
            if (left <= 0 || Thread.currentThread().isInterrupted()) {
                return;
            }
            LockSupport.parkNanos(left);
        }
    }

    private record ArmedFaults(S3Faults faults, Random random)
    {
        Duration latency(S3Operation operation)
        {
            return switch (operation) {
                case GET_OBJECT -> faults.getLatency();
                case HEAD_OBJECT -> faults.headLatency();
                case LIST_OBJECTS -> faults.listLatency();
                default -> Duration.ZERO;
            };
        }

        boolean unavailable(S3Operation operation)
        {
            return switch (operation) {
                case GET_OBJECT, HEAD_OBJECT, LIST_OBJECTS -> faults.unavailableShare() > 0 && draw() < faults.unavailableShare();
                default -> false;
            };
        }

        // each number is made of two others: requests at the same time do not mix them
        private double draw()
        {
            synchronized (random) {
                return random.nextDouble();
            }
        }
    }

    /** One request and what has been answered so far. */
    private final class Exchange
    {
        private final Instant time = Instant.now();
        private final long startNanos = System.nanoTime();
        private final String method;
        private final Optional<String> bucket;
        private final Optional<String> key;
        private final String query;
        private final Optional<String> range;
        private final Optional<String> ifMatch;
        private final String userAgent;
        private final S3Operation operation;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile int status;
        private volatile long bytesSent;
        private volatile long endNanos;

        Exchange(Request request)
        {
            method = request.getMethod();
            String path = decode(Optional.ofNullable(request.getHttpURI().getPath()).orElse("/"));
            int slash = path.indexOf('/', 1);
            bucket = Optional.of(slash < 0 ? path.substring(Math.min(1, path.length())) : path.substring(1, slash)).filter(name -> !name.isEmpty());
            key = slash < 0 ? Optional.empty() : Optional.of(path.substring(slash + 1)).filter(name -> !name.isEmpty());
            query = Optional.ofNullable(request.getHttpURI().getQuery()).orElse("");
            HttpFields headers = request.getHeaders();
            range = Optional.ofNullable(headers.get(HttpHeader.RANGE));
            ifMatch = Optional.ofNullable(headers.get(HttpHeader.IF_MATCH));
            userAgent = Optional.ofNullable(headers.get(HttpHeader.USER_AGENT)).orElse("");
            operation = S3Operation.of(method, bucket, key, query, headers.contains("x-amz-copy-source"));
        }

        // a plus in a path is a plus, unlike in a query
        private static String decode(String path)
        {
            try {
                return URLDecoder.decode(path.replace("+", "%2B"), UTF_8);
            }
            catch (IllegalArgumentException _) {
                return path;
            }
        }

        void end(int status, S3Request.Outcome outcome)
        {
            if (ended.compareAndSet(false, true)) {
                // a handler that sets none means 200
                this.status = status == 0 && outcome == COMPLETED ? 200 : status;
                endNanos = System.nanoTime();
                log.append(toRequest(outcome));
                inFlight.remove(this);
            }
        }

        S3Request toRequest(S3Request.Outcome outcome)
        {
            long until = outcome == IN_FLIGHT ? System.nanoTime() : endNanos;
            return new S3Request(time, Duration.ofNanos(until - startNanos), method, operation, bucket, key, query, range, ifMatch, status, bytesSent, outcome, userAgent);
        }
    }

    /** Counts, slows down and holds the response, and makes the log entry before the client can have all of it. */
    private final class RecordingResponse
            extends Response.Wrapper
    {
        private final Exchange exchange;
        // when the bytes written so far may be gone at the earliest; from the first of them on
        private OptionalLong earliestNanos = OptionalLong.empty();

        RecordingResponse(Request request, Response wrapped, Exchange exchange)
        {
            super(request, wrapped);
            this.exchange = requireNonNull(exchange, "exchange is null");
        }

        @Override
        public void write(boolean last, ByteBuffer content, Callback callback)
        {
            int size = content == null ? 0 : content.remaining();
            exchange.status = getStatus();
            if (size > 0) {
                hold();
                slowDown(size);
            }
            exchange.bytesSent += size;
            // the client also knows the end from the length announced
            long announced = getHeaders().getLongField(HttpHeader.CONTENT_LENGTH);
            if (last || (announced >= 0 && exchange.bytesSent >= announced && !exchange.method.equals("HEAD"))) {
                exchange.end(getStatus(), COMPLETED);
            }
            super.write(last, content, callback);
        }

        private void hold()
        {
            for (LocalHold hold : holds) {
                long afterBytes = hold.rule().afterBytes();
                if (afterBytes > 0 && exchange.bytesSent >= afterBytes && hold.rule().matches(exchange.toRequest(IN_FLIGHT))) {
                    hold.await();
                }
            }
        }

        private void slowDown(int size)
        {
            long bytesPerSecond = faults.faults().bytesPerSecond();
            if (bytesPerSecond == 0 || !exchange.operation.equals(S3Operation.GET_OBJECT)) {
                return;
            }
            long now = System.nanoTime();
            long from = Math.max(earliestNanos.orElse(now), now - LONGEST_CATCH_UP_NANOS);
            long until = from + (long) ((double) size / bytesPerSecond * SECONDS.toNanos(1));
            earliestNanos = OptionalLong.of(until);
            if (until - now >= SHORTEST_PAUSE_NANOS) {
                pause(until - now);
            }
        }
    }
}
