package io.cachedhive.client;

import io.cachedhive.client.counters.ClassHits;
import io.cachedhive.client.counters.HitLog;
import io.cachedhive.client.hedge.Hedges;
import io.cachedhive.client.local.LocalTier;
import io.cachedhive.transport.WorkerConnections;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * What all reads of a client share.
 */
final class ReadContext
{
    // beside what is on its way to be filled: a column of a row group comes in a burst, and what finds no room comes again with the next scan
    private static final int GUEST_SHARE_OF_HEAP = 2;

    private final WorkerConnections connections;
    private final LocalTier local;
    private final HitLog hits;
    private final ClassHits classHits;
    private final HeapBudget heap;
    private final Hedges hedges;
    private final Guests guests;
    private final Runnable reportSoon;
    private final long chunkSizeBytes;
    private final boolean crossZoneReads;
    private final double verifySampleRatio;
    private final int requestBytes;
    private final long silenceNanos;
    private final long fetchNanos;
    private final long fetchMillis;

    ReadContext(CacheClientConfig config, WorkerConnections connections, LocalTier local, HitLog hits, ClassHits classHits, ExecutorService hedgeExecutor, Runnable reportSoon)
    {
        this.connections = requireNonNull(connections, "connections is null");
        this.local = requireNonNull(local, "local is null");
        this.hits = requireNonNull(hits, "hits is null");
        this.classHits = requireNonNull(classHits, "classHits is null");
        this.reportSoon = requireNonNull(reportSoon, "reportSoon is null");
        this.heap = new HeapBudget(config.limits().heapBytes());
        this.hedges = new Hedges(
                hedgeExecutor,
                TimeUnit.MILLISECONDS.toNanos(config.timeouts().hedgeMillis()),
                TimeUnit.MILLISECONDS.toNanos(config.timeouts().silenceMillis()),
                heap::tryReserve,
                heap::release);
        this.guests = new Guests(local, new HeapBudget(config.limits().heapBytes() / GUEST_SHARE_OF_HEAP));
        this.chunkSizeBytes = config.chunkSizeBytes();
        this.crossZoneReads = config.crossZoneReads();
        this.verifySampleRatio = config.verification().originRatio();
        this.requestBytes = config.limits().requestBytes();
        this.silenceNanos = TimeUnit.MILLISECONDS.toNanos(config.timeouts().silenceMillis());
        this.fetchNanos = TimeUnit.MILLISECONDS.toNanos(config.timeouts().fetchMillis());
        this.fetchMillis = config.timeouts().fetchMillis();
    }

    WorkerConnections connections()
    {
        return connections;
    }

    LocalTier local()
    {
        return local;
    }

    HitLog hits()
    {
        return hits;
    }

    ClassHits classHits()
    {
        return classHits;
    }

    /**
     * A block was read that the worker fetched ahead: it waits to hear of it before it fetches more. Cheap, and does not wait.
     */
    void readFetchedAhead()
    {
        reportSoon.run();
    }

    /**
     * Of blocks on their way to a worker, and of ranges on their way from the origin.
     */
    HeapBudget heap()
    {
        return heap;
    }

    Hedges hedges()
    {
        return hedges;
    }

    Guests guests()
    {
        return guests;
    }

    long chunkSizeBytes()
    {
        return chunkSizeBytes;
    }

    boolean crossZoneReads()
    {
        return crossZoneReads;
    }

    /**
     * Whether the hit at hand is one of those to be compared with the origin.
     */
    boolean isToBeVerified()
    {
        return verifySampleRatio > 0 && ThreadLocalRandom.current().nextDouble() < verifySampleRatio;
    }

    int requestBytes()
    {
        return requestBytes;
    }

    long silenceNanos()
    {
        return silenceNanos;
    }

    long fetchNanos()
    {
        return fetchNanos;
    }

    long fetchMillis()
    {
        return fetchMillis;
    }

    long nanoTime()
    {
        return connections.nanoTime();
    }
}
