package io.cachedhive.protocol.file;

import java.nio.ByteBuffer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * One version of a remote file. Every block belongs to a file version, and every read compares it. The ETag is not part
 * of it, because listings do not always include the ETag; the first fill binds it.
 *
 * @param location the full location including the bucket, as Trino names it
 * @param length in bytes
 * @param lastModifiedMillis milliseconds since the Unix epoch, or {@link #IMMUTABLE}
 */
public record FileVersion(OriginId origin, String location, long length, long lastModifiedMillis)
{
    /**
     * Stands for the modification time of a file that does not change after it was written, such as the files of
     * Iceberg tables. The reader then does not know the time, and no reader compares it.
     */
    public static final long IMMUTABLE = -1;

    public FileVersion
    {
        requireNonNull(origin, "origin is null");
        requireNonNull(location, "location is null");
        if (length < 0) {
            throw new IllegalArgumentException("length is negative: " + length);
        }
    }

    /**
     * Returns whether the file is identified without a modification time.
     */
    public boolean isImmutable()
    {
        return lastModifiedMillis == IMMUTABLE;
    }

    /**
     * Returns whether a file of this length and modification time is this version.
     */
    public boolean matches(long length, long lastModifiedMillis)
    {
        return length == this.length && (isImmutable() || lastModifiedMillis == this.lastModifiedMillis);
    }

    /**
     * Computes the id. This is expensive (a SHA-256): keep the result while the file is open.
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
     * Returns the number of blocks in the file. The last one may be shorter than the block size.
     */
    public int blockCount(int blockSizeBytes)
    {
        return Math.toIntExact(Math.ceilDiv(length, blockSizeBytes));
    }

    /**
     * Returns the length of a block in bytes: the block size, except for the last block.
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
