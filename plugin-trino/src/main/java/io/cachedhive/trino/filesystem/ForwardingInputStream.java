package io.cachedhive.trino.filesystem;

import io.trino.filesystem.TrinoInputStream;

import java.io.IOException;

import static java.util.Objects.requireNonNull;

/**
 * Passes on all but the reading itself.
 */
abstract class ForwardingInputStream
        extends TrinoInputStream
{
    protected final TrinoInputStream delegate;

    protected ForwardingInputStream(TrinoInputStream delegate)
    {
        this.delegate = requireNonNull(delegate, "delegate is null");
    }

    /**
     * The superclass would read byte by byte.
     */
    @Override
    public abstract int read(byte[] bytes, int offset, int length)
            throws IOException;

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
