package io.cachedhive.trino.filesystem;

import io.trino.filesystem.TrinoInputStream;

import java.io.IOException;
import java.util.function.LongConsumer;

import static java.util.Objects.requireNonNull;

/**
 * Counts the bytes that a reader gets, and knows nothing of where they come from.
 */
final class CountingInputStream
        extends ForwardingInputStream
{
    private final LongConsumer counter;

    CountingInputStream(TrinoInputStream delegate, LongConsumer counter)
    {
        super(delegate);
        this.counter = requireNonNull(counter, "counter is null");
    }

    @Override
    public int read()
            throws IOException
    {
        int value = delegate.read();
        if (value >= 0) {
            counter.accept(1);
        }
        return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length)
            throws IOException
    {
        int count = delegate.read(bytes, offset, length);
        if (count > 0) {
            counter.accept(count);
        }
        return count;
    }

    @Override
    public byte[] readAllBytes()
            throws IOException
    {
        byte[] bytes = delegate.readAllBytes();
        counter.accept(bytes.length);
        return bytes;
    }

    @Override
    public byte[] readNBytes(int length)
            throws IOException
    {
        byte[] bytes = delegate.readNBytes(length);
        counter.accept(bytes.length);
        return bytes;
    }

    @Override
    public int readNBytes(byte[] bytes, int offset, int length)
            throws IOException
    {
        int count = delegate.readNBytes(bytes, offset, length);
        counter.accept(count);
        return count;
    }
}
