package io.cachedhive.testing.cluster.s3;

import java.time.Duration;
import java.util.Properties;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * How the S3 server misbehaves. Takes effect for requests that arrive after it was set, the bandwidth also for responses under way.
 *
 * @param getLatency wait before the response to a GET of an object begins
 * @param headLatency wait before the response to a HEAD of an object
 * @param listLatency wait before the response to a listing
 * @param bytesPerSecond bandwidth of each response body, 0 for no limit
 * @param unavailableShare share of the GETs, HEADs and listings answered with 503 SlowDown, 0 to 1
 * @param seed decides which of the requests get the 503
 */
public record S3Faults(Duration getLatency, Duration headLatency, Duration listLatency, long bytesPerSecond, double unavailableShare, long seed)
{
    public static final S3Faults NONE = new S3Faults(Duration.ZERO, Duration.ZERO, Duration.ZERO, 0, 0, 0);

    public S3Faults
    {
        checkArgument(!getLatency.isNegative() && !headLatency.isNegative() && !listLatency.isNegative(), "latency is negative");
        checkArgument(bytesPerSecond >= 0, "bytesPerSecond is negative: %s", bytesPerSecond);
        checkArgument(unavailableShare >= 0 && unavailableShare <= 1, "unavailableShare is not between 0 and 1: %s", unavailableShare);
    }

    /** The same wait for GET, HEAD and listing. */
    public S3Faults withLatency(Duration latency)
    {
        return new S3Faults(latency, latency, latency, bytesPerSecond, unavailableShare, seed);
    }

    public S3Faults withLatencies(Duration get, Duration head, Duration list)
    {
        return new S3Faults(get, head, list, bytesPerSecond, unavailableShare, seed);
    }

    public S3Faults withBytesPerSecond(long bytesPerSecond)
    {
        return new S3Faults(getLatency, headLatency, listLatency, bytesPerSecond, unavailableShare, seed);
    }

    public S3Faults withUnavailableShare(double share, long seed)
    {
        return new S3Faults(getLatency, headLatency, listLatency, bytesPerSecond, share, seed);
    }

    Properties toProperties()
    {
        Properties properties = new Properties();
        properties.setProperty("get-latency-millis", Long.toString(getLatency.toMillis()));
        properties.setProperty("head-latency-millis", Long.toString(headLatency.toMillis()));
        properties.setProperty("list-latency-millis", Long.toString(listLatency.toMillis()));
        properties.setProperty("bytes-per-second", Long.toString(bytesPerSecond));
        properties.setProperty("unavailable-share", Double.toString(unavailableShare));
        properties.setProperty("seed", Long.toString(seed));
        return properties;
    }

    static S3Faults fromProperties(Properties properties)
    {
        return new S3Faults(
                Duration.ofMillis(Long.parseLong(properties.getProperty("get-latency-millis", "0"))),
                Duration.ofMillis(Long.parseLong(properties.getProperty("head-latency-millis", "0"))),
                Duration.ofMillis(Long.parseLong(properties.getProperty("list-latency-millis", "0"))),
                Long.parseLong(properties.getProperty("bytes-per-second", "0")),
                Double.parseDouble(properties.getProperty("unavailable-share", "0")),
                Long.parseLong(properties.getProperty("seed", "0")));
    }
}
