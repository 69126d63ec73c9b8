package io.cachedhive.protocol.ring;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.OriginId;

import java.nio.ByteBuffer;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Identifies a chunk, the unit of ownership: an aligned range of a location. It does not include the file version, so a
 * rewritten file keeps its owner.
 *
 * @param locationHash from {@link #locationHash}
 * @param index 0-based
 */
public record ChunkKey(long locationHash, long index)
{
    public ChunkKey
    {
        if (index < 0) {
            throw new IllegalArgumentException("index is negative: " + index);
        }
    }

    /**
     * Computes the location hash. This is expensive (a SHA-256): keep the result while the file is open.
     */
    public static long locationHash(OriginId origin, String location)
    {
        byte[] path = location.getBytes(UTF_8);
        ByteBuffer buffer = ByteBuffer.allocate(Digest128.BYTES + path.length)
                .putLong(origin.digest().high())
                .putLong(origin.digest().low())
                .put(path)
                .flip();
        return Digest128.sha256(buffer).low();
    }

    /**
     * Returns the chunk that contains the byte at a position.
     */
    public static ChunkKey at(long locationHash, long position, long chunkSizeBytes)
    {
        return new ChunkKey(locationHash, position / chunkSizeBytes);
    }
}
