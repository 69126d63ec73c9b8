package io.cachedhive.store.ssd;

import io.cachedhive.store.disk.DiskFile;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A file in memory, cheap to make.
 */
final class BytesFile
        implements DiskFile
{
    private byte[] bytes;

    BytesFile(byte[] bytes)
    {
        this.bytes = bytes.clone();
    }

    @Override
    public int read(long position, ByteBuffer target)
    {
        if (position < 0) {
            throw new IllegalArgumentException("position is negative: " + position);
        }
        int length = Math.clamp(bytes.length - position, 0, target.remaining());
        if (length > 0) {
            target.put(bytes, (int) position, length);
        }
        return length;
    }

    @Override
    public void write(long position, ByteBuffer source)
    {
        int end = Math.toIntExact(position + source.remaining());
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, end);
        }
        source.get(bytes, (int) position, source.remaining());
    }

    @Override
    public void sync() {}

    @Override
    public void allocate(long sizeBytes)
    {
        bytes = Arrays.copyOf(bytes, Math.toIntExact(sizeBytes));
    }

    @Override
    public long size()
    {
        return bytes.length;
    }

    @Override
    public void close() {}
}
