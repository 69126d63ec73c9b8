package io.cachedhive.trino.filesystem;

import io.cachedhive.client.CachedFile;
import io.cachedhive.client.FileReplacedException;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInput;

import java.io.Closeable;
import java.io.IOException;

import static java.util.Objects.checkFromIndexSize;
import static java.util.Objects.requireNonNull;

/**
 * An input read through the cache, with the contract of Trino's S3 input.
 *
 * <p>It has no metrics: only some of Hive's readers would pass them on, and the page source reports the same.
 */
final class CachedTrinoInput
        implements TrinoInput
{
    private final Location location;
    private final CachedFile file;
    private final Closeable origin;
    private volatile boolean closed;

    CachedTrinoInput(Location location, CachedFile file, Closeable origin)
    {
        this.location = requireNonNull(location, "location is null");
        this.file = requireNonNull(file, "file is null");
        this.origin = requireNonNull(origin, "origin is null");
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        ensureOpen();
        if (position < 0) {
            throw new IOException("Negative seek offset");
        }
        checkFromIndexSize(offset, length, buffer.length);
        try {
            file.readFully(position, buffer, offset, length);
        }
        catch (FileReplacedException e) {
            throw ReplacedFiles.failure(e);
        }
    }

    @Override
    public int readTail(byte[] buffer, int offset, int maxLength)
            throws IOException
    {
        ensureOpen();
        checkFromIndexSize(offset, maxLength, buffer.length);
        try {
            return file.readTail(buffer, offset, maxLength);
        }
        catch (FileReplacedException e) {
            throw ReplacedFiles.failure(e);
        }
    }

    private void ensureOpen()
            throws IOException
    {
        if (closed) {
            throw new IOException("Input closed: " + location);
        }
    }

    @Override
    public void close()
            throws IOException
    {
        closed = true;
        origin.close();
    }

    @Override
    public String toString()
    {
        return location.toString();
    }
}
