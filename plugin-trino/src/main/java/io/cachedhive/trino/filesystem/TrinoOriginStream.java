package io.cachedhive.trino.filesystem;

import io.trino.filesystem.TrinoInputFile;
import io.trino.filesystem.TrinoInputStream;

import java.io.EOFException;
import java.io.IOException;
import java.time.Instant;
import java.util.function.Supplier;

/**
 * A file of the origin for a client that fills the cache from front to back: reads that follow one another are one request of the origin,
 * as they are with Trino's own stream. A read out of line is a request of its own.
 */
final class TrinoOriginStream
        extends TrinoOriginInput
{
    private TrinoInputStream stream;
    private long expectedPosition = -1;
    private boolean closed;

    TrinoOriginStream(TrinoInputFile file, Instant expectedLastModified, Supplier<TrinoInputFile> unknownFile)
    {
        super(file, expectedLastModified, unknownFile);
    }

    @Override
    public synchronized void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        if (position == expectedPosition) {
            readStream(position, buffer, offset, length);
        }
        else {
            closeStream();
            super.readFully(position, buffer, offset, length);
        }
        expectedPosition = position + length;
    }

    /**
     * Not from the stream, which the fills of its reader use, and which is closed with it.
     */
    @Override
    public void readApart(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        super.readFully(position, buffer, offset, length);
    }

    private void readStream(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        if (closed) {
            throw new IOException("Input stream closed: " + file().location());
        }
        try {
            if (stream == null) {
                stream = file().newStream();
                stream.seek(position);
            }
            int count = stream.readNBytes(buffer, offset, length);
            if (count < length) {
                throw new EOFException("Read %s of %s requested bytes: %s".formatted(count, length, file().location()));
            }
        }
        catch (Throwable e) {
            try {
                closeStream();
            }
            catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            expectedPosition = -1;
            throw e;
        }
    }

    private void closeStream()
            throws IOException
    {
        if (stream != null) {
            try (TrinoInputStream _ = stream) {
                stream = null;
            }
        }
    }

    @Override
    public synchronized void close()
            throws IOException
    {
        closed = true;
        try {
            closeStream();
        }
        finally {
            super.close();
        }
    }
}
