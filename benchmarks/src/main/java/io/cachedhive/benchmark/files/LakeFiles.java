package io.cachedhive.benchmark.files;

import io.trino.filesystem.Location;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import static java.util.Objects.requireNonNull;

/**
 * Files of one size in a bucket, with bytes that say whose they are.
 */
final class LakeFiles
{
    static final String BUCKET = "benchmark";

    private static final int MARK_BYTES = Long.BYTES;
    // the bytes of a file of a table are as random to whoever moves them
    private static final byte[] CONTENT = new byte[1 << 20];

    static {
        new Random(483).nextBytes(CONTENT);
    }

    private final String name;
    private final int fileBytes;
    // a split's path is taken apart by Trino once, with or without a cache: that is not a part of reading
    private final List<Location> locations;

    /**
     * @param name tells these files from others
     */
    LakeFiles(String name, int count, int fileBytes)
    {
        this.name = requireNonNull(name, "name is null");
        this.fileBytes = fileBytes;
        if (count < 1 || fileBytes < MARK_BYTES) {
            throw new IllegalArgumentException("no files, or too short for a mark: %s of %s bytes".formatted(count, fileBytes));
        }
        this.locations = IntStream.range(0, count).mapToObj(file -> Location.of("s3://%s/%s".formatted(BUCKET, key(file)))).toList();
    }

    String name()
    {
        return name;
    }

    int count()
    {
        return locations.size();
    }

    int fileBytes()
    {
        return fileBytes;
    }

    /// as long as such names are: a file's identity is computed from it
    String key(int file)
    {
        return "warehouse/%s.db/orders/order_date=2026-01-%02d/20260131_123456_%05d_kx7qz_0d1f62c8-59a4-4f0c-a2a4-51c1b7a9c3de".formatted(name, 1 + file % 28, file);
    }

    Location location(int file)
    {
        return locations.get(file);
    }

    long totalBytes()
    {
        return (long) count() * fileBytes;
    }

    byte[] content(int file)
    {
        byte[] bytes = new byte[fileBytes];
        for (int position = 0; position < fileBytes; position += CONTENT.length) {
            System.arraycopy(CONTENT, 0, bytes, position, Math.min(CONTENT.length, fileBytes - position));
        }
        ByteBuffer.wrap(bytes).putLong(mark(file));
        return bytes;
    }

    /// @param bytes the file's first
    void checkMark(int file, byte[] bytes)
    {
        if (ByteBuffer.wrap(bytes).getLong() != mark(file)) {
            throw new IllegalStateException("these are not the bytes of " + location(file));
        }
    }

    void check(int file, byte[] bytes)
    {
        if (!Arrays.equals(bytes, content(file))) {
            throw new IllegalStateException("these are not the bytes of " + location(file));
        }
    }

    private long mark(int file)
    {
        return ((long) name.hashCode() << 32) | file;
    }
}
