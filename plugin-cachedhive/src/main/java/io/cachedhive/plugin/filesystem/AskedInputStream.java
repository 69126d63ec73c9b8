package io.cachedhive.plugin.filesystem;

import io.cachedhive.client.AskedBlocks;
import io.trino.filesystem.TrinoInputStream;

import java.io.IOException;

import static java.util.Objects.requireNonNull;

/**
 * Notes the blocks that a reader asks for.
 */
final class AskedInputStream
        extends TrinoInputStream
{
    private final TrinoInputStream delegate;
    private final AskedBlocks asked;

    AskedInputStream(TrinoInputStream delegate, AskedBlocks asked)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
        this.asked = requireNonNull(asked, "asked is null");
    }

    @Override
    public int read()
            throws IOException
    {
        long position = delegate.getPosition();
        int value = delegate.read();
        asked.add(position, value < 0 ? 0 : 1);
        return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length)
            throws IOException
    {
        long position = delegate.getPosition();
        int count = delegate.read(bytes, offset, length);
        asked.add(position, count);
        return count;
    }

    @Override
    public long skip(long n)
            throws IOException
    {
        return delegate.skip(n);
    }

    @Override
    public void skipNBytes(long n)
            throws IOException
    {
        delegate.skipNBytes(n);
    }

    @Override
    public int available()
            throws IOException
    {
        return delegate.available();
    }

    @Override
    public long getPosition()
            throws IOException
    {
        return delegate.getPosition();
    }

    @Override
    public void seek(long position)
            throws IOException
    {
        delegate.seek(position);
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
