package io.cachedhive.plugin.placement;

import io.cachedhive.protocol.ring.CacheWorkerId;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * The bytes that the running queries of a catalog have listed in the last seconds, and those of them that each reader was given. What is longer ago counts
 * less, because it is not known when a split was read, and a query that has ended does not count. Thread-safe.
 */
public final class RecentLoad
{
    /**
     * The time in which what was given counts half.
     */
    static final Duration HALF_LIFE = Duration.ofSeconds(5);

    // all values are divided before they are too large for a double
    private static final double LARGEST_FACTOR = 1e30;

    private final LongSupplier nanoTime;

    // guarded by this; bytes are multiplied by the factor of the time at which they were added, so that no value has to change as time passes
    private final Map<Object, Query> queries = new HashMap<>();
    private Bytes total = new Bytes();
    private long start;

    private static final class Bytes
    {
        private final Map<CacheWorkerId, Double> given = new HashMap<>();
        private double listed;

        private void give(CacheWorkerId reader, double bytes)
        {
            given.merge(reader, bytes, Double::sum);
        }

        private boolean isEmpty()
        {
            return listed < 1 && given.isEmpty();
        }

        private void divide(double factor)
        {
            listed /= factor;
            given.replaceAll((_, bytes) -> bytes / factor);
            given.values().removeIf(bytes -> bytes < 1);
        }

        private void subtract(Bytes bytes)
        {
            listed = Math.max(listed - bytes.listed, 0);
            bytes.given.forEach((reader, part) -> given.computeIfPresent(reader, (_, sum) -> Math.max(sum - part, 0)));
        }
    }

    /**
     * @param nanoTime as {@link System#nanoTime}
     */
    public RecentLoad(LongSupplier nanoTime)
    {
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
        this.start = nanoTime.getAsLong();
    }

    /**
     * Returns what a query adds to the load until it ends.
     *
     * @param id the same for all scans of the query
     */
    public synchronized Query query(Object id)
    {
        requireNonNull(id, "id is null");
        factor();
        return queries.computeIfAbsent(id, _ -> new Query());
    }

    /**
     * Forgets what the query has added.
     */
    public synchronized void end(Object id)
    {
        Query query = queries.remove(id);
        if (query == null) {
            return;
        }
        if (queries.isEmpty()) {
            // without what rounding left
            total = new Bytes();
            return;
        }
        total.subtract(query.own);
    }

    // guarded by this
    private double factor()
    {
        long now = nanoTime.getAsLong();
        double factor = Math.pow(2, (double) (now - start) / HALF_LIFE.toNanos());
        if (factor <= LARGEST_FACTOR) {
            return factor;
        }
        start = now;
        total.divide(factor);
        queries.values().forEach(query -> query.own.divide(factor));
        // a query whose end was not reported does not stay for ever
        queries.values().removeIf(query -> query.own.isEmpty());
        return 1;
    }

    /**
     * What one query adds to the load of its catalog.
     */
    public final class Query
    {
        // guarded by RecentLoad.this
        private final Bytes own = new Bytes();

        private Query() {}

        void list(long bytes)
        {
            synchronized (RecentLoad.this) {
                double scaled = bytes * factor();
                own.listed += scaled;
                total.listed += scaled;
            }
        }

        void give(CacheWorkerId reader, long bytes)
        {
            synchronized (RecentLoad.this) {
                double scaled = bytes * factor();
                own.give(reader, scaled);
                total.give(reader, scaled);
            }
        }

        /**
         * Returns the bytes that all queries have listed.
         */
        double listedBytes()
        {
            synchronized (RecentLoad.this) {
                double factor = factor();
                return total.listed / factor;
            }
        }

        /**
         * Returns the bytes that the reader was given by all queries.
         */
        double givenBytes(CacheWorkerId reader)
        {
            synchronized (RecentLoad.this) {
                double factor = factor();
                return total.given.getOrDefault(reader, 0.0) / factor;
            }
        }
    }
}
