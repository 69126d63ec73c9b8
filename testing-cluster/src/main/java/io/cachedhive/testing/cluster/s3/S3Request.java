package io.cachedhive.testing.cluster.s3;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static com.google.common.base.Preconditions.checkArgument;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * One HTTP request as the S3 server saw it.
 * <p>
 * A request whose whole response a client has received is already in the log: the entry is made before the last bytes are sent.
 * So after a query has ended, every request that it waited for is there, and no test needs to wait for the log.
 *
 * @param time arrival of the request at the server, before any injected latency
 * @param duration from arrival until the last byte of the response was about to be sent, or until the client went away
 * @param query the raw query string, empty when there is none
 * @param range the Range header as sent
 * @param ifMatch the If-Match header as sent
 * @param status HTTP status, 0 while no response has begun
 * @param bytesSent bytes of the response body
 */
public record S3Request(
        Instant time,
        Duration duration,
        String method,
        S3Operation operation,
        Optional<String> bucket,
        Optional<String> key,
        String query,
        Optional<String> range,
        Optional<String> ifMatch,
        int status,
        long bytesSent,
        Outcome outcome,
        String userAgent)
{
    private static final int FIELD_COUNT = 13;
    private static final Pattern RANGE_START = Pattern.compile("bytes=(\\d{1,18})-.*");

    public enum Outcome
    {
        /** the response was sent whole */
        COMPLETED,
        /** the connection ended before the response did */
        ABORTED,
        /** no end yet; never in the log, only in {@link S3Service#inFlight} */
        IN_FLIGHT,
    }

    public S3Request
    {
        requireNonNull(time, "time is null");
        requireNonNull(duration, "duration is null");
        requireNonNull(method, "method is null");
        requireNonNull(operation, "operation is null");
        requireNonNull(bucket, "bucket is null");
        requireNonNull(key, "key is null");
        requireNonNull(query, "query is null");
        requireNonNull(range, "range is null");
        requireNonNull(ifMatch, "ifMatch is null");
        requireNonNull(outcome, "outcome is null");
        requireNonNull(userAgent, "userAgent is null");
    }

    /** A GET of an object's bytes. */
    public boolean isGet()
    {
        return operation == S3Operation.GET_OBJECT;
    }

    /** Where the requested bytes begin in the object: 0 without a range, and for a range of its last bytes. */
    public long startPosition()
    {
        return range.map(RANGE_START::matcher)
                .filter(Matcher::matches)
                .map(matcher -> Long.parseLong(matcher.group(1)))
                .orElse(0L);
    }

    /** A HEAD of an object. */
    public boolean isHead()
    {
        return operation == S3Operation.HEAD_OBJECT;
    }

    /** A listing of a bucket or prefix. */
    public boolean isList()
    {
        return operation == S3Operation.LIST_OBJECTS;
    }

    /**
     * Whether the request is about one object that Hive reads as data of a table: Hive ignores every file below a name that begins with {@code .} or {@code _},
     * and Trino's file metastore keeps all its files ({@code .trinoSchema}, {@code .trinoPermissions}, {@code .roles}, ...) under such names.
     */
    public boolean isDataFile()
    {
        if (key.isEmpty() || key.get().endsWith("/")) {
            return false;
        }
        for (String name : key.get().split("/")) {
            if (name.startsWith(".") || name.startsWith("_")) {
                return false;
            }
        }
        return true;
    }

    /**
     * Which program asked, as it names itself: the {@code app/…} of the AWS SDK's user agent (Trino says {@code Trino}), or the first word of the user agent.
     */
    public String application()
    {
        String[] words = userAgent.split(" ");
        for (String word : words) {
            if (word.startsWith("app/")) {
                return word.substring("app/".length());
            }
        }
        return words[0];
    }

    /** The prefix asked for, if this is a listing. */
    public Optional<String> listPrefix()
    {
        return isList() ? parameter("prefix") : Optional.empty();
    }

    /** A parameter of the query string, decoded; empty when absent. */
    public Optional<String> parameter(String name)
    {
        for (String parameter : query.split("&")) {
            if (parameter.startsWith(name + "=")) {
                return Optional.of(URLDecoder.decode(parameter.substring(name.length() + 1), UTF_8));
            }
        }
        return Optional.empty();
    }

    /** Whether key, or the listed prefix, begins with the given prefix in the given bucket. */
    public boolean isUnder(String bucketName, String prefix)
    {
        return bucket.equals(Optional.of(bucketName)) && key.or(this::listPrefix).orElse("").startsWith(prefix);
    }

    /**
     * The request as a line of the log file: tab-separated, in the order of the record, time as ISO-8601, duration in microseconds, bucket and key percent-encoded,
     * {@code -} for what is absent.
     */
    public String toLine()
    {
        return String.join(
                "\t",
                time.toString(),
                Long.toString(duration.toNanos() / 1000),
                method,
                operation.name(),
                bucket.map(S3Request::encode).orElse("-"),
                key.map(S3Request::encode).orElse("-"),
                query.isEmpty() ? "-" : clean(query),
                range.map(S3Request::clean).orElse("-"),
                ifMatch.map(S3Request::clean).orElse("-"),
                Integer.toString(status),
                Long.toString(bytesSent),
                outcome.name(),
                userAgent.isEmpty() ? "-" : clean(userAgent));
    }

    /**
     * Reads what {@link #toLine} wrote.
     *
     * @throws IllegalArgumentException if the line is not such a line
     */
    public static S3Request parse(String line)
    {
        List<String> fields = List.of(line.split("\t", -1));
        checkArgument(fields.size() == FIELD_COUNT, "S3 request log line has %s fields instead of %s: %s", fields.size(), FIELD_COUNT, line);
        return new S3Request(
                Instant.parse(fields.get(0)),
                Duration.ofNanos(Long.parseLong(fields.get(1)) * 1000),
                fields.get(2),
                S3Operation.valueOf(fields.get(3)),
                optional(fields.get(4)).map(S3Request::decode),
                optional(fields.get(5)).map(S3Request::decode),
                optional(fields.get(6)).orElse(""),
                optional(fields.get(7)),
                optional(fields.get(8)),
                Integer.parseInt(fields.get(9)),
                Long.parseLong(fields.get(10)),
                Outcome.valueOf(fields.get(11)),
                optional(fields.get(12)).orElse(""));
    }

    private static Optional<String> optional(String field)
    {
        return field.equals("-") ? Optional.empty() : Optional.of(field);
    }

    // "-" alone stands for an absent value, so a key of that name is written encoded
    private static String encode(String value)
    {
        return value.equals("-") ? "%2D" : URLEncoder.encode(value, UTF_8).replace("%2F", "/").replace("%3D", "=");
    }

    private static String decode(String value)
    {
        return URLDecoder.decode(value, UTF_8);
    }

    // header values and raw queries cannot hold line ends, but a tab may stand in a header
    private static String clean(String value)
    {
        return value.equals("-") ? "%2D" : value.replaceAll("[\\t\\r\\n]", " ");
    }
}
