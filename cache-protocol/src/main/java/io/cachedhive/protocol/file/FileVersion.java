package io.cachedhive.protocol.file;

import java.nio.ByteBuffer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * One state of one remote file: what every block belongs to, compared at every read.
 * The ETag is not part of it, since a listing does not always tell it: it is bound by the first fill.
 *
 * @param location the full location with its bucket, as Trino names it
 * @param length bytes
 * @param lastModifiedMillis milliseconds since the epoch
 */
public record FileVersion(OriginId origin, String location, long length, long lastModifiedMillis)
{
    public FileVersion
    {
        requireNonNull(origin, "origin is null");
        requireNonNull(location, "location is null");
        if (length < 0) {
            throw new IllegalArgumentException("length is negative: " + length);
        }
    }

    /**
     * Not cheap (a SHA-256): keep it for as long as the file is open.
     */
    public FileVersionId id()
    {
        byte[] path = location.getBytes(UTF_8);
        ByteBuffer buffer = ByteBuffer.allocate(Digest128.BYTES + 16 + path.length)
                .putLong(origin.digest().high())
                .putLong(origin.digest().low())
                .putLong(length)
                .putLong(lastModifiedMillis)
                .put(path)
                .flip();
        return new FileVersionId(Digest128.sha256(buffer));
    }

    /**
     * How many blocks of the given size the file has; the last may be shorter.
     */
    public int blockCount(int blockSizeBytes)
    {
        return Math.toIntExact(Math.ceilDiv(length, blockSizeBytes));
    }

    /**
     * Bytes in the block: the block size, but for the last.
     */
    public int blockLength(int index, int blockSizeBytes)
    {
        long start = (long) index * blockSizeBytes;
        if (index < 0 || start >= length) {
            throw new IllegalArgumentException("file of %s bytes has no block %s".formatted(length, index));
        }
        return (int) Math.min(blockSizeBytes, length - start);
    }
}
