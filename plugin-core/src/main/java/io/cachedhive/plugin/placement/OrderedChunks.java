package io.cachedhive.plugin.placement;

import io.cachedhive.protocol.ring.CacheWorkerId;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import static java.util.Comparator.comparing;
import static java.util.Objects.requireNonNull;

/**
 * The chunks of a scan's files, of each reader in the order of the files' paths, which is the same in all scans. For one thread at a time.
 */
final class OrderedChunks
{
    // of one reader all are added up for each split
    private static final int MOST_CHUNKS = 256;
    private static final Comparator<Position> ORDER = comparing(Position::path).thenComparingLong(Position::index);

    private final Map<CacheWorkerId, SortedMap<Position, Long>> bytes = new HashMap<>();
    private int count;

    private record Position(String path, long index)
    {
        private Position
        {
            requireNonNull(path, "path is null");
        }
    }

    boolean hasRoom()
    {
        return count < MOST_CHUNKS;
    }

    /**
     * @param chunkBytes its length
     */
    void add(String path, long index, CacheWorkerId reader, long chunkBytes)
    {
        bytes.computeIfAbsent(reader, _ -> new TreeMap<>(ORDER)).put(new Position(path, index), chunkBytes);
        count++;
    }

    /**
     * What the reader has to read before this chunk.
     */
    long bytesBefore(String path, long index, CacheWorkerId reader)
    {
        SortedMap<Position, Long> chunks = bytes.get(reader);
        return chunks == null ? 0 : chunks.headMap(new Position(path, index)).values().stream().mapToLong(Long::longValue).sum();
    }
}
