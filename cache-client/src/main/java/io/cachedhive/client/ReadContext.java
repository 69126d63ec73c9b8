package io.cachedhive.client;

import io.cachedhive.client.connection.WorkerConnections;
import io.cachedhive.client.counters.HitLog;
import io.cachedhive.client.local.LocalTier;

import java.util.concurrent.TimeUnit;

import static java.util.Objects.requireNonNull;

/**
 * What all reads of a client share.
 */
final class ReadContext
{
    private final WorkerConnections connections;
    private final LocalTier local;
    private final HitLog hits;
    private final FillMemory fillMemory;
    private final long chunkSizeBytes;
    private final int requestBytes;
    private final long silenceNanos;
    private final long fetchNanos;
    private final long fetchMillis;

    ReadContext(CacheClientConfig config, WorkerConnections connections, LocalTier local, HitLog hits)
    {
        this.connections = requireNonNull(connections, "connections is null");
        this.local = requireNonNull(local, "local is null");
        this.hits = requireNonNull(hits, "hits is null");
        this.fillMemory = new FillMemory(config.limits().heapBytes());
        this.chunkSizeBytes = config.chunkSizeBytes();
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

    FillMemory fillMemory()
    {
        return fillMemory;
    }

    long chunkSizeBytes()
    {
        return chunkSizeBytes;
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
