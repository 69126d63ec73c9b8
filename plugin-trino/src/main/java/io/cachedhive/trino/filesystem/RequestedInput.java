package io.cachedhive.trino.filesystem;

import io.airlift.slice.Slice;
import io.cachedhive.client.RequestedBlocks;
import io.trino.filesystem.TrinoInput;
import io.trino.spi.metrics.Metrics;

import java.io.IOException;

import static java.util.Objects.requireNonNull;

/**
 * Notes the blocks that a reader asks for.
 */
final class RequestedInput
        implements TrinoInput
{
    private final TrinoInput delegate;
    private final long fileLength;
    private final RequestedBlocks asked;

    RequestedInput(TrinoInput delegate, long fileLength, RequestedBlocks asked)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.fileLength = fileLength;
        this.asked = requireNonNull(asked, "asked is null");
    }

    @Override
    public void readFully(long position, byte[] buffer, int bufferOffset, int length)
            throws IOException
    {
        delegate.readFully(position, buffer, bufferOffset, length);
        asked.add(position, length);
    }

    @Override
    public int readTail(byte[] buffer, int bufferOffset, int maxLength)
            throws IOException
    {
        int count = delegate.readTail(buffer, bufferOffset, maxLength);
        asked.add(Math.max(0, fileLength - count), count);
        return count;
    }

    @Override
    public Slice readFully(long position, int length)
            throws IOException
    {
        Slice slice = delegate.readFully(position, length);
        asked.add(position, slice.length());
        return slice;
    }

    @Override
    public Slice readTail(int length)
            throws IOException
    {
        Slice slice = delegate.readTail(length);
        asked.add(Math.max(0, fileLength - slice.length()), slice.length());
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
