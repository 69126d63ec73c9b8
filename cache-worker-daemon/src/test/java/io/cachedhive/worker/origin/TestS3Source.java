package io.cachedhive.worker.origin;

import com.google.common.base.Ticker;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.cachedhive.worker.fetch.RequestLimits;
import io.cachedhive.worker.fetch.WorkerCounters;
import io.cachedhive.worker.origin.ObjectSourceException.Reason;
import io.cachedhive.worker.origin.S3OriginConfig.SseKmsCaching;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Which answers the source asks for again by itself, and which are the caller's.
 */
class TestS3Source
{
    private static final S3ObjectLocation LOCATION = new S3ObjectLocation("lake", "file");

    private final WorkerCounters counters = new WorkerCounters();
    private final AtomicLong nanos = new AtomicLong();
    private final Deque<Integer> answers = new ArrayDeque<>();
    private Optional<String> encryption = Optional.empty();
    private HttpServer server;
    private S3Source source;

    @BeforeEach
    void setUp()
            throws IOException
    {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/lake/", this::answer);
        server.start();
        source = create(new S3OriginConfig(), false);
    }

    private S3Source create(S3OriginConfig config, boolean encryptedAtRest)
    {
        return S3Source.create(
                config
                        .setEndpoint("http://127.0.0.1:" + server.getAddress().getPort())
                        .setRegion("us-east-1")
                        .setPathStyleAccess(true)
                        .setAwsAccessKey("key")
                        .setAwsSecretKey("secret")
                        .setMaxErrorRetries(4),
                new RequestLimits(8, System::nanoTime, counters).observer("default"),
                encryptedAtRest,
                nanos::get);
    }

    @AfterEach
    void tearDown()
    {
        source.close();
        server.stop(0);
    }

    private synchronized void answer(HttpExchange exchange)
            throws IOException
    {
        int status = answers.isEmpty() ? 200 : answers.removeFirst();
        boolean head = exchange.getRequestMethod().equals("HEAD");
        byte[] body = "<Error><Code>Ordered</Code><Message>as ordered</Message></Error>".getBytes(UTF_8);
        if (status == 200) {
            body = "0123456789".getBytes(UTF_8);
            exchange.getResponseHeaders().add("ETag", "\"one\"");
            encryption.ifPresent(value -> exchange.getResponseHeaders().add("x-amz-server-side-encryption", value));
            if (head) {
                exchange.getResponseHeaders().add("Content-Length", Integer.toString(body.length));
            }
            else {
                status = 206;
                exchange.getResponseHeaders().add("Content-Range", "bytes 0-9/10");
            }
        }
        exchange.sendResponseHeaders(status, head ? -1 : body.length);
        if (!head) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    private void order(Integer... statuses)
    {
        answers.addAll(List.of(statuses));
    }

    private String get()
            throws ObjectSourceException, IOException
    {
        try (ObjectRange range = source.open(LOCATION, 0, 10, Optional.empty())) {
            byte[] bytes = new byte[10];
            int length = 0;
            while (length < bytes.length) {
                length += range.read(bytes, length, bytes.length - length);
            }
            return new String(bytes, UTF_8);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"aws:kms", "aws:kms:dsse"})
    void testObjectsUnderKmsAreNotRead(String algorithm)
            throws Exception
    {
        encryption = Optional.of(algorithm);
        assertThatThrownBy(this::get).isInstanceOfSatisfying(ObjectSourceException.class, e -> assertThat(e.reason()).isEqualTo(Reason.ENCRYPTED));
        assertThat(counters.originGets()).isEqualTo(1);
        assertThat(counters.originBytes()).isZero();
        encryption = Optional.empty();
        assertThatThrownBy(this::get).describedAs("the directory is remembered").isInstanceOf(ObjectSourceException.class);
        assertThat(counters.originGets()).isEqualTo(1);
        source.open(new S3ObjectLocation("lake", "other/file"), 0, 10, Optional.empty()).close();
        assertThat(counters.originGets()).isEqualTo(2);
    }

    @Test
    void testObjectsUnderKmsWhereTheyMayBeCached()
            throws Exception
    {
        encryption = Optional.of("AES256");
        assertThat(get()).isEqualTo("0123456789");
        encryption = Optional.of("aws:kms");
        source.close();
        source = create(new S3OriginConfig(), true);
        assertThat(get()).describedAs("with encryption at rest").isEqualTo("0123456789");
        source.close();
        source = create(new S3OriginConfig().setSseKmsCaching(SseKmsCaching.ALLOWED), false);
        assertThat(get()).describedAs("where it is allowed").isEqualTo("0123456789");
    }

    @Test
    void testDirectoriesUnderKmsAreForgotten()
    {
        AtomicLong nanos = new AtomicLong();
        EncryptedDirectories directories = new EncryptedDirectories(new Ticker()
        {
            @Override
            public long read()
            {
                return nanos.get();
            }
        });
        directories.add(new S3ObjectLocation("lake", "t/day=1/a"));
        nanos.addAndGet(EncryptedDirectories.KEPT.toNanos() - 1);
        assertThat(directories.contains(new S3ObjectLocation("lake", "t/day=1/b"))).isTrue();
        assertThat(directories.contains(new S3ObjectLocation("lake", "t/day=2/b"))).isFalse();
        assertThat(directories.contains(new S3ObjectLocation("lake", "t/b"))).isFalse();
        assertThat(directories.contains(new S3ObjectLocation("sea", "t/day=1/a"))).isFalse();
        nanos.incrementAndGet();
        assertThat(directories.contains(new S3ObjectLocation("lake", "t/day=1/b"))).isFalse();
    }

    @Test
    void testResponsesThatTrickleInAreAborted()
            throws Exception
    {
        byte[] bytes = new byte[10];
        try (ObjectRange range = source.open(LOCATION, 0, 10, Optional.empty())) {
            nanos.addAndGet(S3Source.RANGE_TIMEOUT.toNanos());
            assertThat(range.read(bytes, 0, 1)).isEqualTo(1);
            nanos.incrementAndGet();
            assertThatThrownBy(() -> range.read(bytes, 1, 1)).isInstanceOf(IOException.class).hasMessageContaining("8 bytes are missing");
        }
        // the end of a range is welcome at any time
        try (ObjectRange range = source.open(LOCATION, 0, 10, Optional.empty())) {
            int length = 0;
            while (length < 9) {
                length += range.read(bytes, length, 9 - length);
            }
            nanos.addAndGet(2 * S3Source.RANGE_TIMEOUT.toNanos());
            assertThat(range.read(bytes, 9, 1)).isEqualTo(1);
            assertThat(new String(bytes, UTF_8)).isEqualTo("0123456789");
        }
    }

    @Test
    void testFailuresAreTriedAgain()
            throws Exception
    {
        order(500, 502);
        assertThat(get()).isEqualTo("0123456789");
        assertThat(counters.originGets()).isEqualTo(3);
        assertThat(counters.originRetries()).isEqualTo(2);
        assertThat(counters.originErrors()).isEqualTo(2);
        assertThat(counters.originThrottled()).isZero();

        order(500, 500, 500, 500, 500);
        assertThatThrownBy(this::get).isInstanceOfSatisfying(ObjectSourceException.class, e -> assertThat(e.reason()).isEqualTo(Reason.FAILED));
        assertThat(counters.originGets()).as("as often as s3.max-error-retries says").isEqualTo(3 + 4);
    }

    @Test
    void testRefusalsAreTheCallers()
            throws Exception
    {
        for (int status : List.of(503, 429)) {
            order(status);
            assertThatThrownBy(this::get).isInstanceOfSatisfying(ObjectSourceException.class, e -> assertThat(e.reason()).isEqualTo(Reason.THROTTLED));
        }
        assertThat(counters.originGets()).isEqualTo(2);
        assertThat(counters.originRetries()).isZero();
        assertThat(counters.originThrottled()).isEqualTo(2);
        assertThat(source.maxAttempts()).isEqualTo(4);
        assertThat(get()).isEqualTo("0123456789");
    }

    /**
     * A HEAD is asked seldom, and nobody joins it.
     */
    @Test
    void testRefusedHeadIsTriedAgain()
            throws Exception
    {
        order(503);
        assertThat(source.head(LOCATION).etag()).contains("\"one\"");
        assertThat(counters.originHeads()).isEqualTo(2);
        assertThat(counters.originRetries()).isEqualTo(1);
    }

    @Test
    void testNeitherIsTriedAgain()
    {
        order(403, 404, 412);
        for (Reason reason : List.of(Reason.DENIED, Reason.GONE, Reason.CHANGED)) {
            assertThatThrownBy(this::get).isInstanceOfSatisfying(ObjectSourceException.class, e -> assertThat(e.reason()).isEqualTo(reason));
        }
        assertThat(counters.originGets()).isEqualTo(3);
    }
}
