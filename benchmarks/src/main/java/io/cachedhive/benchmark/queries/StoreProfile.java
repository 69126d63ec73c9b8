package io.cachedhive.benchmark.queries;

import io.cachedhive.testing.cluster.s3.S3Faults;

import java.time.Duration;
import java.util.Arrays;

import static java.util.Objects.requireNonNull;

/**
 * How fast the object store answers.
 */
public enum StoreProfile
{
    /**
     * As fast as the machine.
     */
    FAST("fast", Duration.ZERO, 0),
    /**
     * An object store in the region of the cluster.
     */
    NEAR("near", Duration.ofMillis(30), 80_000_000),
    /**
     * An object store in another region, or one that is busy.
     */
    FAR("far", Duration.ofMillis(100), 20_000_000);

    private final String text;
    private final Duration latency;
    private final long bytesPerSecond;

    StoreProfile(String text, Duration latency, long bytesPerSecond)
    {
        this.text = requireNonNull(text, "text is null");
        this.latency = requireNonNull(latency, "latency is null");
        this.bytesPerSecond = bytesPerSecond;
    }

    /**
     * @throws IllegalArgumentException if there is no such profile
     */
    public static StoreProfile of(String text)
    {
        return Arrays.stream(values())
                .filter(profile -> profile.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no such profile of the object store: %s, use one of %s".formatted(text, Arrays.toString(values()))));
    }

    /**
     * Returns what the S3 server is to do: a wait before each response, and a bandwidth for each of them.
     */
    S3Faults faults()
    {
        return S3Faults.NONE.withLatency(latency).withBytesPerSecond(bytesPerSecond);
    }

    @Override
    public String toString()
    {
        return text;
    }
}
