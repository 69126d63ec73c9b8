package io.cachedhive.worker.fetch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.worker.origin.OriginObserver;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * How many requests a bucket is asked at the same time: halved when it answers 503 or 429, and raised by one for as many good answers as the limit is
 * (additive increase, multiplicative decrease: Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion avoidance", 1989).
 * Answers to requests that were under way when it was halved do not halve it again.
 */
public final class RequestLimits
{
    /**
     * Half of the requests refused make a row of so many seldom, an outage makes it at once.
     */
    static final int REFUSES_ALL = 6;
    private static final long HALVING_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    private final int maxRequests;
    private final LongSupplier nanoTime;
    private final WorkerCounters counters;
    private final Map<Bucket, Limit> limits = new ConcurrentHashMap<>();

    /**
     * @param origin name of the origin
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
     * Of a bucket that has refused nothing lately.
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
     * Whether it has refused so many requests in a row that it seems to refuse all.
     */
    boolean refusesAll(Bucket bucket)
    {
        return of(bucket).refusesAll();
    }

    private Limit of(Bucket bucket)
    {
        return limits.computeIfAbsent(bucket, _ -> new Limit());
    }

    /**
     * What an origin's client is to report to.
     */
    public OriginObserver observer(String origin)
    {
        return new OriginObserver()
        {
            @Override
            public void requested(Operation operation)
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
