package io.cachedhive.testing.cluster.s3;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

import static io.cachedhive.testing.cluster.s3.S3Operation.GET_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.HEAD_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Operation.LIST_OBJECTS;
import static io.cachedhive.testing.cluster.s3.S3Operation.PUT_OBJECT;
import static io.cachedhive.testing.cluster.s3.S3Request.Outcome.COMPLETED;
import static java.nio.file.StandardOpenOption.APPEND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestS3RequestLog
{
    private static final String TRINO = "aws-sdk-java/2.47.4 md/http#Apache os/Linux app/Trino m/D";

    @TempDir
    private Path directory;

    @Test
    void testLineHoldsRequest()
    {
        long seed = Long.getLong("s3.seed", System.nanoTime());
        System.out.println("s3.seed=" + seed);
        Random random = new Random(seed);
        for (int index = 0; index < 1000; index++) {
            S3Request request = randomRequest(random);
            assertThat(request.toLine()).doesNotContain("\n");
            assertThat(S3Request.parse(request.toLine())).as("seed %s, request %s", seed, index).isEqualTo(request);
        }
    }

    @Test
    void testLineIsStable()
    {
        S3Request request = new S3Request(
                Instant.parse("2026-01-02T03:04:05.678Z"),
                Duration.ofNanos(1_234_000),
                "GET",
                GET_OBJECT,
                Optional.of("lake"),
                Optional.of("t/ds=2026-01-01/a b.parquet"),
                "",
                Optional.of("bytes=0-99"),
                Optional.of("\"e\""),
                206,
                100,
                COMPLETED,
                TRINO);
        String line = "2026-01-02T03:04:05.678Z\t1234\tGET\tGET_OBJECT\tlake\tt/ds=2026-01-01/a+b.parquet\t-\tbytes=0-99\t\"e\"\t206\t100\tCOMPLETED\t" + TRINO;
        assertThat(request.toLine()).isEqualTo(line);
        assertThat(S3Request.parse(line)).isEqualTo(request);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GET /lake/a", "2026-01-02T03:04:05.678Z\t1\tGET\tGET_OBJECT"})
    void testRefusesOtherLines(String line)
    {
        assertThatThrownBy(() -> S3Request.parse(line))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("fields instead of 13");
    }

    @Test
    void testFileIsReadWhileWritten()
            throws Exception
    {
        Path file = directory.resolve("logs/requests.log");
        S3RequestLogFile reader = S3RequestLogFile.open(file);
        assertThat(reader.mark()).isZero();
        assertThat(reader.all()).isEmpty();

        S3Request first = request(GET_OBJECT, "t/a", TRINO, 10);
        S3Request second = request(HEAD_OBJECT, "t/a", TRINO, 0);
        S3Request third = request(PUT_OBJECT, "t/b", TRINO, 0);
        try (WritableS3RequestLog writer = S3RequestLogFile.openForAppend(file)) {
            writer.append(first);
            assertThat(reader.all()).containsExactly(first);
            long mark = reader.mark();
            assertThat(reader.since(mark)).isEmpty();
            writer.append(second);
            assertThat(reader.since(mark)).containsExactly(second);
        }
        long mark = reader.mark();
        // a line of which only a part is there yet is left for the next time
        String line = third.toLine();
        Files.writeString(file, line.substring(0, 20), APPEND);
        assertThat(reader.since(mark)).isEmpty();
        Files.writeString(file, line.substring(20) + "\n", APPEND);
        assertThat(reader.since(mark)).containsExactly(third);

        // another run appends
        try (WritableS3RequestLog writer = S3RequestLogFile.openForAppend(file)) {
            writer.append(first);
            assertThat(writer.all()).containsExactly(first, second, third, first);
        }
        assertThatThrownBy(() -> reader.since(reader.mark() + 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not a mark of this log");
    }

    @Test
    void testLogInMemory()
    {
        WritableS3RequestLog log = new InMemoryS3RequestLog();
        S3Request first = request(GET_OBJECT, "t/a", TRINO, 10);
        S3Request second = request(HEAD_OBJECT, "t/a", TRINO, 0);
        log.append(first);
        long mark = log.mark();
        log.append(second);
        assertThat(log.all()).containsExactly(first, second);
        assertThat(log.since(mark)).containsExactly(second);
        assertThatThrownBy(() -> log.since(3)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
            "warehouse/tpch/orders/20261120_204435_00004_mwphx_bfcf9c18, true",
            "warehouse/tpch/orders/ds=2026-01-01/data.orc, true",
            "warehouse/tpch/orders/ds=__HIVE_DEFAULT_PARTITION__/data.orc, true",
            "data, true",
            "warehouse/tpch/orders/.trinoSchema, false",
            "warehouse/tpch/orders/.trinoPermissions/user_admin, false",
            "warehouse/.tpch.trinoSchema, false",
            "warehouse/.roles, false",
            "warehouse/.roleGrants, false",
            "warehouse/tpch/.trinoFunction/f=abc, false",
            "warehouse/tpch/orders/_SUCCESS, false",
            "warehouse/tpch/orders/_temporary/0/data, false",
            "warehouse/tpch/orders/, false",
    })
    void testTellsDataFiles(String key, boolean expected)
    {
        assertThat(request(GET_OBJECT, key, TRINO, 1).isDataFile()).isEqualTo(expected);
    }

    @Test
    void testCounts()
    {
        List<S3Request> requests = List.of(
                request(GET_OBJECT, "w/s/t/data", TRINO, 100),
                request(GET_OBJECT, "w/s/t/data", "cache-worker/1", 50),
                request(GET_OBJECT, "w/s/t/.trinoSchema", TRINO, 7),
                request(HEAD_OBJECT, "w/s/u/data", TRINO, 0),
                list("w/s/t/"),
                request(PUT_OBJECT, "w/s/u/data", TRINO, 0));

        assertThat(S3RequestCounts.of(requests)).isEqualTo(new S3RequestCounts(3, 1, 1, 1, 0, 0, 157, 166, 0));
        assertThat(S3RequestCounts.ofDataFiles(requests)).isEqualTo(new S3RequestCounts(2, 1, 0, 1, 0, 0, 150, 150, 0));
        assertThat(S3RequestCounts.byApplication(requests)).containsOnlyKeys("Trino", "cache-worker/1");
        assertThat(S3RequestCounts.byApplication(requests).get("cache-worker/1").gets()).isEqualTo(1);
        assertThat(S3RequestCounts.byUserAgent(requests)).containsOnlyKeys(TRINO, "cache-worker/1");
        assertThat(S3RequestCounts.byPrefix(requests, 3)).containsOnlyKeys("lake/w/s/t", "lake/w/s/u");
        assertThat(S3RequestCounts.byPrefix(requests, 3).get("lake/w/s/t").lists()).isEqualTo(1);
    }

    private static S3Request request(S3Operation operation, String key, String userAgent, long bytes)
    {
        return request(operation, Optional.of(key), "", userAgent, bytes);
    }

    private static S3Request list(String prefix)
    {
        return request(LIST_OBJECTS, Optional.empty(), "list-type=2&prefix=" + prefix.replace("/", "%2F"), TRINO, 9);
    }

    private static S3Request request(S3Operation operation, Optional<String> key, String query, String userAgent, long bytes)
    {
        return new S3Request(
                Instant.parse("2026-01-02T03:04:05Z"),
                Duration.ofMillis(3),
                "GET",
                operation,
                Optional.of("lake"),
                key,
                query,
                Optional.empty(),
                Optional.empty(),
                200,
                bytes,
                COMPLETED,
                userAgent);
    }

    private static S3Request randomRequest(Random random)
    {
        S3Operation[] operations = S3Operation.values();
        return new S3Request(
                Instant.ofEpochMilli(random.nextLong(4_000_000_000_000L)),
                Duration.ofNanos(random.nextLong(10_000_000) * 1000),
                random.nextBoolean() ? "GET" : "PUT",
                operations[random.nextInt(operations.length)],
                maybe(random, "lake"),
                maybe(random, randomText(random)),
                random.nextBoolean() ? "" : "prefix=a%2Fb&x",
                maybe(random, "bytes=1-2"),
                maybe(random, "\"etag\""),
                random.nextInt(600),
                random.nextLong(1L << 50),
                COMPLETED,
                random.nextBoolean() ? "" : "agent " + random.nextInt());
    }

    private static Optional<String> maybe(Random random, String value)
    {
        return random.nextInt(4) == 0 ? Optional.empty() : Optional.of(value);
    }

    private static String randomText(Random random)
    {
        List<String> pieces = new ArrayList<>(List.of("a", "/", "=", "-", "+", " ", "%", "\t", "\n", "ü", "日", "&", "."));
        StringBuilder text = new StringBuilder("-");
        for (int index = random.nextInt(20); index > 0; index--) {
            text.append(pieces.get(random.nextInt(pieces.size())));
        }
        return text.toString();
    }
}
