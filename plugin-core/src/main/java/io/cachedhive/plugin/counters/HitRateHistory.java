package io.cachedhive.plugin.counters;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.cachedhive.protocol.wire.StatusMessage.Stats;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.LongSupplier;

import static java.util.Objects.requireNonNull;

/**
 * Computes the hit rate of the last minutes and hours from samples of the counters of all cache workers.
 *
 * <p>Sums the increments of each cache worker instead of its counters, so that a cache worker that does not answer, or starts from zero, does not change the sums.
 */
public final class HitRateHistory
{
    static final Duration SAMPLE_INTERVAL = Duration.ofMinutes(1);
    private static final Duration KEPT = Duration.ofHours(24);

    private final LongSupplier nanoTime;
    @GuardedBy("this")
    private final Map<String, Counted> workers = new HashMap<>();
    // the oldest first; the last one before the kept time is the base of the longest window
    @GuardedBy("this")
    private final Deque<Sample> samples = new ArrayDeque<>();
    @GuardedBy("this")
    private long hitBytes;
    @GuardedBy("this")
    private long cacheableBytes;

    /**
     * @param nanos when the cache worker last answered
     */
    private record Counted(long sinceMillis, HitRate.Bytes bytes, long nanos) {}

    private record Sample(long nanos, long hitBytes, long cacheableBytes) {}

    public HitRateHistory(LongSupplier nanoTime)
    {
        this.nanoTime = requireNonNull(nanoTime, "nanoTime is null");
    }

    /**
     * Adds the increments since the last call.
     */
    public synchronized void add(List<WorkerReport> reports)
    {
        long now = nanoTime.getAsLong();
        for (WorkerReport report : reports) {
            report.stats().ifPresent(stats -> add(report.nodeId().orElseThrow(), stats, now));
        }
        // those that were replaced
        workers.values().removeIf(counted -> now - counted.nanos() > KEPT.toNanos());
        if (samples.isEmpty() || now - samples.getLast().nanos() >= SAMPLE_INTERVAL.toNanos()) {
            samples.addLast(new Sample(now, hitBytes, cacheableBytes));
            while (samples.size() > 1 && now - second().nanos() >= KEPT.toNanos()) {
                samples.removeFirst();
            }
        }
    }

    @GuardedBy("this")
    private Sample second()
    {
        return samples.stream().skip(1).findFirst().orElseThrow();
    }

    @GuardedBy("this")
    private void add(String worker, Stats stats, long now)
    {
        HitRate.Bytes bytes = HitRate.Bytes.of(stats.counters());
        Counted before = workers.get(worker);
        if (before != null && before.sinceMillis() == stats.sinceMillis()) {
            // two readers may add their reports in the other order
            if (bytes.cacheable() < before.bytes().cacheable() || bytes.hit() < before.bytes().hit()) {
                return;
            }
            hitBytes += bytes.hit() - before.bytes().hit();
            cacheableBytes += bytes.cacheable() - before.bytes().cacheable();
        }
        else if (before != null) {
            if (stats.sinceMillis() < before.sinceMillis()) {
                return;
            }
            // it lost its counters and started from zero
            hitBytes += bytes.hit();
            cacheableBytes += bytes.cacheable();
        }
        workers.put(worker, new Counted(stats.sinceMillis(), bytes, now));
    }

    /**
     * Returns the hit rate of a time until the last call of {@link #add}. If the history is shorter, returns the hit rate of the history.
     *
     * @return 0 to 1; empty if no cacheable bytes were read in this time
     */
    public synchronized OptionalDouble hitRate(Duration window)
    {
        if (samples.isEmpty()) {
            return OptionalDouble.empty();
        }
        long now = nanoTime.getAsLong();
        Sample base = samples.getFirst();
        for (Sample sample : samples) {
            if (now - sample.nanos() < window.toNanos()) {
                break;
            }
            base = sample;
        }
        return new HitRate.Bytes(hitBytes - base.hitBytes(), cacheableBytes - base.cacheableBytes()).rate();
    }
}
