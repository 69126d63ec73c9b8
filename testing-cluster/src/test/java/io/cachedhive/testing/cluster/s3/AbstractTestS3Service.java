package io.cachedhive.testing.cluster.s3;

import com.google.common.hash.Hashing;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static io.cachedhive.testing.cluster.s3.S3Operation.COMPLETE_MULTIPART_UPLOAD;
import static io.cachedhive.testing.cluster.s3.S3Operation.COPY_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.CREATE_MULTIPART_UPLOAD;
import static io.cachedhive.testing.cluster.s3.S3Operation.DELETE_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.DELETE_OBJECTS;
import static io.cachedhive.testing.cluster.s3.S3Operation.GET_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.HEAD_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.LIST_OBJECTS;
import static io.cachedhive.testing.cluster.s3.S3Operation.PUT_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.UPLOAD_PART;
import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.ABORTED;
import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.COMPLETED;
import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.IN_FLIGHT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What the S3 server promises, wherever it runs and wherever it keeps its objects.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AbstractTestS3Service
{
    protected static final String BUCKET = "lake";

    private static final Duration LONG = Duration.ofSeconds(60);

    private final ExecutorService executor = Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory());
    private S3Service s3;
    private S3Client client;
    private long mark;

    /** Starts the service with the bucket {@link #BUCKET}. */
    protected abstract S3Service start()
            throws Exception;

    @BeforeAll
    void startService()
            throws Exception
    {
        s3 = start();
        client = clientWithoutRetries(S3Service.SECRET_KEY);
    }

    @AfterAll
    void stopService()
    {
        executor.shutdownNow();
        client.close();
        s3.close();
    }

    @BeforeEach
    void takeMark()
    {
        mark = s3.log().mark();
    }

    @AfterEach
    void removeFaults()
    {
        s3.setFaults(S3Faults.NONE);
    }

    private S3Client clientWithoutRetries(String secretKey)
    {
        return S3Client.builder()
                .endpointOverride(s3.endpoint())
                .forcePathStyle(true)
                .region(Region.of(S3Service.REGION))
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(S3Service.ACCESS_KEY, secretKey)))
                .overrideConfiguration(configuration -> configuration.retryStrategy(AwsRetryStrategy.doNotRetry()))
                .build();
    }

    @Test
    void testReadsRanges()
    {
        byte[] bytes = randomBytes(1, 100_000);
        put("ranges/data", bytes);
        assertThat(get("ranges/data")).isEqualTo(bytes);
        assertThat(get("ranges/data", "bytes=0-0")).isEqualTo(Arrays.copyOf(bytes, 1));
        assertThat(get("ranges/data", "bytes=1000-1999")).isEqualTo(Arrays.copyOfRange(bytes, 1000, 2000));
        assertThat(get("ranges/data", "bytes=99990-200000")).isEqualTo(Arrays.copyOfRange(bytes, 99_990, 100_000));
        assertThat(get("ranges/data", "bytes=-10")).isEqualTo(Arrays.copyOfRange(bytes, 99_990, 100_000));
        assertStatus(416, () -> get("ranges/data", "bytes=100000-100010"));
        assertStatus(404, () -> get("ranges/absent"));

        assertThat(since()).extracting(S3Request::operation, S3Request::status, S3Request::bytesSent)
                .startsWith(
                        tuple(PUT_OBJECT, 200, 0L),
                        tuple(GET_OBJECT, 200, 100_000L),
                        tuple(GET_OBJECT, 206, 1L),
                        tuple(GET_OBJECT, 206, 1000L),
                        tuple(GET_OBJECT, 206, 10L),
                        tuple(GET_OBJECT, 206, 10L));
        assertThat(since()).extracting(S3Request::status).endsWith(416, 404);
        assertThat(since()).extracting(S3Request::range)
                .startsWith(Optional.empty(), Optional.empty(), Optional.of("bytes=0-0"), Optional.of("bytes=1000-1999"))
                .hasSize(8);
        assertThat(since()).allSatisfy(request -> assertThat(request.outcome()).isEqualTo(COMPLETED));
    }

    @Test
    void testLogNamesRequest()
    {
        Instant before = Instant.now();
        put("named/column=a b+c%2F/ü", randomBytes(2, 10));
        get("named/column=a b+c%2F/ü");

        assertThat(since()).hasSize(2);
        S3Request get = since().getLast();
        assertThat(get.method()).isEqualTo("GET");
        assertThat(get.bucket()).contains(BUCKET);
        assertThat(get.key()).contains("named/column=a b+c%2F/ü");
        assertThat(get.query()).isEmpty();
        assertThat(get.userAgent()).contains("aws-sdk-java");
        assertThat(get.time()).isBetween(before.minusMillis(1), Instant.now());
        assertThat(get.duration()).isBetween(Duration.ZERO, Duration.between(before, Instant.now()));
        assertThat(get.isDataFile()).isTrue();
        assertThat(get.isUnder(BUCKET, "named/")).isTrue();
        assertThat(get.isUnder(BUCKET, "other/")).isFalse();
    }

    @Test
    void testCompletedResponseIsLogged()
    {
        put("visible/data", randomBytes(3, 50_000));
        // each response is looked for as soon as it is there: an entry made after the response would sometimes come too late
        for (int index = 0; index < 100; index++) {
            long before = s3.log().mark();
            get("visible/data", "bytes=%s-".formatted(index * 100));
            assertThat(s3.log().since(before)).as("the log after GET %s", index).extracting(S3Request::operation).containsExactly(GET_OBJECT);
            client.headObject(request -> request.bucket(BUCKET).key("visible/data"));
            assertThat(s3.log().since(before)).as("the log after HEAD %s", index).extracting(S3Request::operation).containsExactly(GET_OBJECT, HEAD_OBJECT);
        }
    }

    @Test
    @SuppressWarnings("deprecation") // ETags of S3 are MD5
    void testConditionalRequests()
    {
        byte[] bytes = randomBytes(4, 1000);
        String etag = put("conditional/data", bytes);
        assertThat(etag).isEqualTo("\"%s\"".formatted(Hashing.md5().hashBytes(bytes)));
        HeadObjectResponse head = client.headObject(request -> request.bucket(BUCKET).key("conditional/data"));
        assertThat(head.eTag()).isEqualTo(etag);
        assertThat(head.contentLength()).isEqualTo(1000);
        assertThat(client.getObjectAsBytes(request -> request.bucket(BUCKET).key("conditional/data").ifMatch(etag)).asByteArray()).isEqualTo(bytes);

        put("conditional/data", randomBytes(5, 1000));
        assertStatus(412, () -> client.getObjectAsBytes(request -> request.bucket(BUCKET).key("conditional/data").ifMatch(etag).range("bytes=0-9")));
        assertStatus(304, () -> client.getObjectAsBytes(request -> request.bucket(BUCKET).key("conditional/data").ifNoneMatch(
                client.headObject(again -> again.bucket(BUCKET).key("conditional/data")).eTag())));

        List<S3Request> requests = since();
        assertThat(requests).filteredOn(request -> request.status() == 412)
                .singleElement()
                .satisfies(request -> assertThat(request.ifMatch()).contains(etag))
                .satisfies(request -> assertThat(request.range()).contains("bytes=0-9"));
        assertThat(requests).filteredOn(S3Request::isHead)
                .hasSize(2)
                .allSatisfy(request -> assertThat(request.bytesSent()).isZero());
        assertThat(requests).extracting(S3Request::status).last().isEqualTo(304);
    }

    @Test
    void testLists()
    {
        for (int index = 0; index < 5; index++) {
            put("lists/part=%s/data".formatted(index), randomBytes(6, 10));
        }
        ListObjectsV2Response first = client.listObjectsV2(request -> request.bucket(BUCKET).prefix("lists/").maxKeys(3));
        ListObjectsV2Response second = client.listObjectsV2(request -> request.bucket(BUCKET).prefix("lists/").continuationToken(first.nextContinuationToken()));
        assertThat(first.contents()).hasSize(3);
        assertThat(second.contents()).hasSize(2);
        assertThat(second.contents()).extracting(S3Object::key).endsWith("lists/part=4/data");
        assertThat(second.contents()).extracting(S3Object::size).containsOnly(10L);

        assertThat(since()).filteredOn(S3Request::isList)
                .hasSize(2)
                .allSatisfy(request -> assertThat(request.listPrefix()).contains("lists/"))
                .allSatisfy(request -> assertThat(request.isDataFile()).isFalse())
                .allSatisfy(request -> assertThat(request.isUnder(BUCKET, "lists/")).isTrue());
    }

    @Test
    void testWrites()
    {
        byte[] part1 = randomBytes(7, 5 << 20);
        byte[] part2 = randomBytes(8, 1 << 20);
        String upload = client.createMultipartUpload(request -> request.bucket(BUCKET).key("writes/large")).uploadId();
        List<CompletedPart> parts = new ArrayList<>();
        for (byte[] part : List.of(part1, part2)) {
            int number = parts.size() + 1;
            String etag = client.uploadPart(request -> request.bucket(BUCKET).key("writes/large").uploadId(upload).partNumber(number), RequestBody.fromBytes(part)).eTag();
            parts.add(CompletedPart.builder().partNumber(number).eTag(etag).build());
        }
        client.completeMultipartUpload(request -> request.bucket(BUCKET).key("writes/large").uploadId(upload).multipartUpload(completed -> completed.parts(parts)));
        assertThat(get("writes/large", "bytes=%s-%s".formatted(part1.length - 5, part1.length + 4)))
                .startsWith(Arrays.copyOfRange(part1, part1.length - 5, part1.length))
                .endsWith(Arrays.copyOf(part2, 5));
        client.copyObject(request -> request.sourceBucket(BUCKET).sourceKey("writes/large").destinationBucket(BUCKET).destinationKey("writes/copy"));
        client.deleteObjects(request -> request.bucket(BUCKET).delete(delete -> delete.objects(ObjectIdentifier.builder().key("writes/large").build())));
        client.deleteObject(request -> request.bucket(BUCKET).key("writes/copy"));
        assertThat(client.listObjectsV2(request -> request.bucket(BUCKET).prefix("writes/")).contents()).isEmpty();

        assertThat(since()).extracting(S3Request::operation).containsExactly(
                CREATE_MULTIPART_UPLOAD,
                UPLOAD_PART,
                UPLOAD_PART,
                COMPLETE_MULTIPART_UPLOAD,
                GET_OBJECT,
                COPY_OBJECT,
                DELETE_OBJECTS,
                DELETE_OBJECT,
                LIST_OBJECTS);
        assertThat(S3RequestCounts.of(since()).puts()).isEqualTo(5);
        assertThat(S3RequestCounts.of(since()).deletes()).isEqualTo(2);
    }

    @Test
    void testRefusesWrongKey()
    {
        try (S3Client stranger = clientWithoutRetries("wrong")) {
            assertStatus(403, () -> stranger.headObject(request -> request.bucket(BUCKET).key("any")));
        }
        assertThat(since()).singleElement()
                .satisfies(request -> assertThat(request.operation()).isEqualTo(HEAD_OBJECT))
                .satisfies(request -> assertThat(request.status()).isEqualTo(403));
    }

    @Test
    void testHoldsGets()
            throws Exception
    {
        put("held/a/data", randomBytes(9, 1000));
        put("held/b/data", randomBytes(10, 1000));
        put("held/a/.trinoSchema", randomBytes(11, 10));
        Future<byte[]> held;
        try (S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "held/a/"))) {
            held = executor.submit(() -> get("held/a/data"));
            hold.awaitHeld(1, LONG);
            assertThat(hold.heldCount()).isEqualTo(1);
            // others pass, and so do the metastore's files
            assertThat(get("held/b/data")).hasSize(1000);
            assertThat(get("held/a/.trinoSchema")).hasSize(10);
            assertThat(held.isDone()).isFalse();
            assertThat(s3.inFlight()).singleElement()
                    .satisfies(request -> assertThat(request.key()).contains("held/a/data"))
                    .satisfies(request -> assertThat(request.outcome()).isEqualTo(IN_FLIGHT))
                    .satisfies(request -> assertThat(request.bytesSent()).isZero());
            assertThat(since()).filteredOn(request -> request.isUnder(BUCKET, "held/a/data") && request.isGet()).isEmpty();
            assertThatThrownBy(() -> hold.awaitHeld(2, Duration.ofMillis(50)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("1 GETs were held within PT0.05S, not 2");
        }
        assertThat(held.get()).isEqualTo(randomBytes(9, 1000));
        assertThat(get("held/a/data")).hasSize(1000);
    }

    @Test
    void testHoldsFromPosition()
            throws Exception
    {
        byte[] bytes = randomBytes(14, 3000);
        put("position/data", bytes);
        try (S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "position/").fromPosition(2000))) {
            // those that begin before it are not held
            assertThat(get("position/data")).isEqualTo(bytes);
            assertThat(client.getObjectAsBytes(request -> request.bucket(BUCKET).key("position/data").range("bytes=1999-2999")).asByteArray()).hasSize(1001);
            Future<byte[]> held = executor.submit(() -> client.getObjectAsBytes(request -> request.bucket(BUCKET).key("position/data").range("bytes=2000-2999")).asByteArray());
            hold.awaitHeld(1, LONG);
            assertThat(held.isDone()).isFalse();
            hold.release();
            assertThat(held.get()).isEqualTo(Arrays.copyOfRange(bytes, 2000, 3000));
        }
    }

    @Test
    void testHoldsInMiddleOfBody()
            throws Exception
    {
        byte[] bytes = randomBytes(12, 2 << 20);
        put("middle/data", bytes);
        try (S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "middle/").afterBytes(1 << 20));
                ResponseInputStream<GetObjectResponse> body = client.getObject(request -> request.bucket(BUCKET).key("middle/data"))) {
            byte[] half = body.readNBytes(1 << 20);
            assertThat(half).isEqualTo(Arrays.copyOf(bytes, 1 << 20));
            Future<byte[]> rest = executor.submit(() -> body.readAllBytes());
            hold.awaitHeld(1, LONG);
            assertThat(s3.inFlight()).singleElement()
                    .satisfies(request -> assertThat(request.bytesSent()).isBetween(1L << 20, (1L << 20) + 100_000));
            assertThat(rest.isDone()).isFalse();
            hold.release();
            assertThat(rest.get()).isEqualTo(Arrays.copyOfRange(bytes, 1 << 20, 2 << 20));
        }
        assertThat(since().getLast().bytesSent()).isEqualTo(2 << 20);
        assertThat(since().getLast().outcome()).isEqualTo(COMPLETED);
    }

    @Test
    void testAbortedResponse()
            throws Exception
    {
        put("aborted/data", randomBytes(13, 8 << 20));
        try (S3Hold hold = s3.hold(S3Hold.Rule.gets(BUCKET, "aborted/").afterBytes(1 << 16))) {
            ResponseInputStream<GetObjectResponse> body = client.getObject(request -> request.bucket(BUCKET).key("aborted/data"));
            hold.awaitHeld(1, LONG);
            body.abort();
        }
        Await.until("both requests are recorded", () -> since().size() == 2);
        assertThat(since().getLast().outcome()).isEqualTo(ABORTED);
        assertThat(since().getLast().bytesSent()).isBetween(1L << 16, (8L << 20) - 1);
    }

    @Test
    void testBarrier()
            throws Exception
    {
        put("barrier/data", randomBytes(14, 1000));
        S3Hold barrier = s3.hold(S3Hold.Rule.gets(BUCKET, "barrier/").releaseAtCount(3));
        Future<byte[]> first = executor.submit(() -> get("barrier/data"));
        Future<byte[]> second = executor.submit(() -> get("barrier/data"));
        barrier.awaitHeld(2, LONG);
        assertThat(first.isDone() || second.isDone()).isFalse();
        assertThat(get("barrier/data")).hasSize(1000);
        assertThat(first.get()).hasSize(1000);
        assertThat(second.get()).hasSize(1000);
        // over after the first release
        assertThat(get("barrier/data")).hasSize(1000);
    }

    @Test
    void testUnavailableShare()
    {
        put("unavailable/data", randomBytes(15, 100));
        long seed = Long.getLong("s3.seed", System.nanoTime());
        System.out.println("s3.seed=" + seed);
        s3.setFaults(S3Faults.NONE.withUnavailableShare(0.3, seed));
        mark = s3.log().mark();

        Random random = new Random(seed);
        List<Integer> expected = new ArrayList<>();
        List<Integer> answered = new ArrayList<>();
        for (int index = 0; index < 100; index++) {
            expected.add(random.nextDouble() < 0.3 ? 503 : 200);
            answered.add(switch (index % 3) {
                case 0 -> status(() -> get("unavailable/data"));
                case 1 -> status(() -> client.headObject(request -> request.bucket(BUCKET).key("unavailable/data")));
                default -> status(() -> client.listObjectsV2(request -> request.bucket(BUCKET).prefix("unavailable/")));
            });
        }
        assertThat(answered).as("seed %s", seed).isEqualTo(expected);
        assertThat(since()).extracting(S3Request::status).as("seed %s", seed).isEqualTo(expected);
        assertThat(S3RequestCounts.of(since()).errors()).isEqualTo(expected.stream().filter(status -> status == 503).count());

        // writes are spared, and a share of 1 spares no read
        s3.setFaults(S3Faults.NONE.withUnavailableShare(1, seed));
        put("unavailable/data", randomBytes(16, 100));
        assertThatThrownBy(() -> get("unavailable/data"))
                .isInstanceOfSatisfying(S3Exception.class, e -> assertThat(e.awsErrorDetails().errorCode()).isEqualTo("SlowDown"));
    }

    @Test
    void testLatencyAndBandwidth()
    {
        put("slow/data", randomBytes(17, 1 << 20));
        mark = s3.log().mark();
        s3.setFaults(S3Faults.NONE.withLatencies(Duration.ofMillis(80), Duration.ofMillis(40), Duration.ofMillis(60)).withBytesPerSecond(4 << 20));
        assertThat(s3.faults()).isEqualTo(S3Faults.NONE.withLatencies(Duration.ofMillis(80), Duration.ofMillis(40), Duration.ofMillis(60)).withBytesPerSecond(4 << 20));
        get("slow/data", "bytes=0-0");
        client.headObject(request -> request.bucket(BUCKET).key("slow/data"));
        client.listObjectsV2(request -> request.bucket(BUCKET).prefix("slow/"));
        get("slow/data");

        // sleeping is never shorter than asked; how much longer depends on the machine
        assertThat(since()).extracting(S3Request::duration).satisfiesExactly(
                get -> assertThat(get).isGreaterThanOrEqualTo(Duration.ofMillis(80)),
                head -> assertThat(head).isBetween(Duration.ofMillis(40), Duration.ofSeconds(10)),
                list -> assertThat(list).isGreaterThanOrEqualTo(Duration.ofMillis(60)),
                whole -> assertThat(whole).isGreaterThanOrEqualTo(Duration.ofMillis(80 + 249)));
    }

    @Test
    void testClientProperties()
    {
        assertThat(s3.clientProperties()).containsEntry("s3.endpoint", s3.endpoint().toString());
        assertThat(s3.endpoint().getHost()).isEqualTo("127.0.0.1");
        try (S3Client fresh = s3.client()) {
            assertThat(fresh.listBuckets().buckets()).singleElement().satisfies(bucket -> assertThat(bucket.name()).isEqualTo(BUCKET));
        }
    }

    private List<S3Request> since()
    {
        return s3.log().since(mark);
    }

    private String put(String key, byte[] bytes)
    {
        return client.putObject(request -> request.bucket(BUCKET).key(key), RequestBody.fromBytes(bytes)).eTag();
    }

    private byte[] get(String key)
    {
        return client.getObjectAsBytes(request -> request.bucket(BUCKET).key(key)).asByteArray();
    }

    private byte[] get(String key, String range)
    {
        return client.getObjectAsBytes(request -> request.bucket(BUCKET).key(key).range(range)).asByteArray();
    }

    private static int status(Callable<?> request)
    {
        try {
            request.call();
            return 200;
        }
        catch (S3Exception e) {
            return e.statusCode();
        }
        catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void assertStatus(int expected, Callable<?> request)
    {
        assertThat(status(request)).isEqualTo(expected);
    }

    private static byte[] randomBytes(long seed, int size)
    {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
