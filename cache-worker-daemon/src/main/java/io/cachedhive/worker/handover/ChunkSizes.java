package io.cachedhive.worker.handover;

import io.cachedhive.protocol.file.OriginId;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * By which chunk size the files of an origin have their owners, as the clients said last: it is a property of their catalogs.
 */
public final class ChunkSizes
{
    /**
     * As long as no client said another: what catalogs have unless configured.
     */
    static final long DEFAULT_BYTES = 512L << 20;

    private final Map<OriginId, Long> sizes = new ConcurrentHashMap<>();

    public void put(OriginId origin, long chunkSizeBytes)
    {
        sizes.put(origin, chunkSizeBytes);
    }

    long get(OriginId origin)
    {
        return sizes.getOrDefault(origin, DEFAULT_BYTES);
    }
}
