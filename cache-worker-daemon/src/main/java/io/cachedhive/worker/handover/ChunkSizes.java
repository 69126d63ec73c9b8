package io.cachedhive.worker.handover;

import io.cachedhive.protocol.file.OriginId;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The chunk sizes that determine the owners of each origin's files. The chunk size is a property of a catalog; clients
 * report it, and the last report counts.
 */
public final class ChunkSizes
{
    /**
     * The default of catalogs, used until a client reports another size.
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
