package io.cachedhive.worker.fetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.worker.origin.OriginObserver;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Limits the concurrent requests to each bucket. A 503 or 429 halves the limit, and as many successes as the limit
 * raise it by one (additive increase, multiplicative decrease: Chiu and Jain, "Analysis of the increase and decrease
 * algorithms for congestion avoidance", 1989). Requests that were in progress at the halving do not halve it again.
 */
public final class RequestLimits
{
    /**
     * The length of a run of throttled requests that indicates an outage. If only half of the requests are throttled,
     * such a run is rare.
     */
    static final int REFUSES_ALL = 6;
    private static final long HALVING_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    private final int maxRequests;
    private final LongSupplier nanoTime;
    private final WorkerCounters counters;
    private final Map<Bucket, Limit> limits = new ConcurrentHashMap<>();

    /**
     * A bucket of an origin.
     *
     * @param origin the name of the origin
     */
    record Bucket(String origin, String name)
    {
        Bucket
        {
            requireNonNull(origin, "origin is null");
            requireNonNull(name, "name is null");
        }
    }

    public RequestLimits(int maxRequests, LongSupplier nanoTime, WorkerCounters counters)
    {
        this.maxRequests = maxRequests;
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.counters = requireNonNull(counters, "counters is null");
    }

    /**
     * Returns the limit for a bucket that has not throttled requests recently.
     */
    int maxRequests()
    {
        return maxRequests;
    }

    int limit(Bucket bucket)
    {
        return of(bucket).current();
    }

    void succeeded(Bucket bucket)
    {
        of(bucket).raise();
    }

    void throttled(Bucket bucket)
    {
        of(bucket).halve();
    }

    /**
     * Returns whether the bucket appears to throttle all requests.
     */
    boolean refusesAll(Bucket bucket)
    {
        return of(bucket).refusesAll();
    }

    private Limit of(Bucket bucket)
    {
        return limits.computeIfAbsent(bucket, _ -> new Limit());
    }

    public OriginObserver observer(String origin)
    {
        return new OriginObserver()
        {
            @Override
            public void requestSent(Operation operation)
            {
                counters.addOriginRequest(operation);
            }

            @Override
            public void answered(String bucket, int status)
            {
                if (status == 503 || status == 429) {
                    counters.addOriginThrottled();
                    throttled(new Bucket(origin, bucket));
                }
                else {
                    of(new Bucket(origin, bucket)).accepted();
                }
                if (status >= 400) {
                    counters.addOriginError();
                }
            }

            @Override
            public void repeated()
            {
                counters.addOriginRetries(1);
            }

            @Override
            public void received(long bytes)
            {
                counters.addOriginBytes(bytes);
            }
        };
    }

    private final class Limit
    {
        @GuardedBy("this")
        private double value = maxRequests;
        @GuardedBy("this")
        private boolean halved;
        @GuardedBy("this")
        private long lastHalved;
        @GuardedBy("this")
        private int refusalsInARow;

        synchronized int current()
        {
            return (int) value;
        }

        synchronized void raise()
        {
            value = Math.min(maxRequests, value + 1 / value);
        }

        synchronized void accepted()
        {
            refusalsInARow = 0;
        }

        synchronized boolean refusesAll()
        {
            return refusalsInARow >= REFUSES_ALL;
        }

        synchronized void halve()
        {
            refusalsInARow++;
            long now = nanoTime.getAsLong();
            if (!halved || now - lastHalved >= HALVING_PAUSE_NANOS) {
                halved = true;
                lastHalved = now;
                value = Math.max(1, value / 2);
            }
        }
    }
}
