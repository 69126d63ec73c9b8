package io.cachedhive.client.counters;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the reads of one scan by source. Any number of threads may count into it; reads that fail or are interrupted are not counted.
 */
public final class ReadObserver
{
    private static final int SOURCES = ReadSource.values().length;
    private static final int RAM_HIT = ReadSource.RAM_HIT.ordinal();

    // those that are not in hits
    private final LongAdder requests = new LongAdder();
    // reads of shared memory only, which are counted by as few additions as can be: each costs some percent of a small read
    private final LongAdder hits = new LongAdder();
    private final LongAdder[] waitNanos = adders(SOURCES);
    private final LongAdder[] bytes = adders(SOURCES);
    private final LongAdder[] sourceRequests = adders(SOURCES);
    private final LongAdder[] bypassBytes = adders(BypassCause.values().length);

    static LongAdder[] adders(int count)
    {
        LongAdder[] adders = new LongAdder[count];
        for (int i = 0; i < count; i++) {
            adders[i] = new LongAdder();
        }
        return adders;
    }

    /**
     * Reads, each once whatever its sources.
     */
    public long requests()
    {
        return requests.sum() + hits.sum();
    }

    public long bytes(ReadSource source)
    {
        return bytes[source.ordinal()].sum();
    }

    /**
     * Reads with at least a byte from the source: a read of two sources is counted in both.
     */
    public long requests(ReadSource source)
    {
        return sourceRequests[source.ordinal()].sum() + (source == ReadSource.RAM_HIT ? hits.sum() : 0);
    }

    public long totalBytes()
    {
        long total = 0;
        for (LongAdder adder : bytes) {
            total += adder.sum();
        }
        return total;
    }

    /**
     * Without the causes that never came.
     */
    public Map<BypassCause, Long> bypassBytes()
    {
        Map<BypassCause, Long> values = new EnumMap<>(BypassCause.class);
        for (BypassCause cause : BypassCause.values()) {
            long value = bypassBytes[cause.ordinal()].sum();
            if (value != 0) {
                values.put(cause, value);
            }
        }
        return values;
    }

    /**
     * Returns the time that readers waited for workers or the origin. Hits in shared memory do not wait.
     */
    public long waitNanos()
    {
        long total = 0;
        for (LongAdder adder : waitNanos) {
            total += adder.sum();
        }
        return total;
    }

    /**
     * Returns the time that readers waited in reads whose slowest source this was.
     */
    public long waitNanos(ReadSource source)
    {
        return waitNanos[source.ordinal()].sum();
    }

    void addRequest(ReadSource slowest, long nanosWaited)
    {
        requests.increment();
        if (nanosWaited > 0) {
            waitNanos[slowest.ordinal()].add(nanosWaited);
        }
    }

    /**
     * A read that found all of it in shared memory.
     */
    void addHit(long count)
    {
        hits.increment();
        bytes[RAM_HIT].add(count);
    }

    void add(ReadSource source, long count)
    {
        add(source, count, true);
    }

    void add(ReadSource source, long count, boolean firstOfRequest)
    {
        bytes[source.ordinal()].add(count);
        if (firstOfRequest) {
            sourceRequests[source.ordinal()].increment();
        }
    }

    void addBypass(BypassCause cause, long count)
    {
        bypassBytes[cause.ordinal()].add(count);
    }
}
