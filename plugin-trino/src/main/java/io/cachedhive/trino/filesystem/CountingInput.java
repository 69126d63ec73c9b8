package io.cachedhive.trino.filesystem;

import io.airlift.slice.Slice;
import io.trino.filesystem.TrinoInput;
import io.trino.spi.metrics.Metrics;

import java.io.IOException;
import java.util.function.LongConsumer;

import static java.util.Objects.requireNonNull;

/**
 * Counts the bytes that a reader gets, and knows nothing of where they come from.
 */
final class CountingInput
        implements TrinoInput
{
    private final TrinoInput delegate;
    private final LongConsumer counter;

    CountingInput(TrinoInput delegate, LongConsumer counter)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.counter = requireNonNull(counter, "counter is null");
    }

    @Override
    public void readFully(long position, byte[] buffer, int bufferOffset, int length)
            throws IOException
    {
        delegate.readFully(position, buffer, bufferOffset, length);
        counter.accept(length);
    }

    @Override
    public int readTail(byte[] buffer, int bufferOffset, int maxLength)
            throws IOException
    {
        int count = delegate.readTail(buffer, bufferOffset, maxLength);
        counter.accept(count);
        return count;
    }

    @Override
    public Slice readFully(long position, int length)
            throws IOException
    {
        Slice slice = delegate.readFully(position, length);
        counter.accept(slice.length());
        return slice;
    }

    @Override
    public Slice readTail(int length)
            throws IOException
    {
        Slice slice = delegate.readTail(length);
        counter.accept(slice.length());
        return slice;
    }

    @Override
    public Metrics getMetrics()
    {
        return delegate.getMetrics();
    }

    @Override
    public void close()
            throws IOException
    {
        delegate.close();
    }

    @Override
    public String toString()
    {
        return delegate.toString();
    }
}
