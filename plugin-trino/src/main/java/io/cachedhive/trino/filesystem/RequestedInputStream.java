package io.cachedhive.trino.filesystem;

import io.cachedhive.client.RequestedBlocks;
import io.trino.filesystem.TrinoInputStream;

import java.io.IOException;

import static java.util.Objects.requireNonNull;

/**
 * Notes the blocks that a reader asks for.
 */
final class RequestedInputStream
        extends ForwardingInputStream
{
    private final RequestedBlocks asked;

    RequestedInputStream(TrinoInputStream delegate, RequestedBlocks asked)
    {
        super(delegate);
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
}
