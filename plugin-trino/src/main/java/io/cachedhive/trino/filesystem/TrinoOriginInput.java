package io.cachedhive.trino.filesystem;

import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.trino.context.ReadContext;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;

import java.io.Closeable;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * A file of the origin, read by Trino's own file system. Opened when it is first needed.
 */
class TrinoOriginInput
        implements OriginInput, Closeable
{
    private final TrinoInputFile file;
    private final Instant expectedLastModified;
    private final Supplier<TrinoInputFile> unknownFile;
    private TrinoInput input;
    private boolean closed;

    /**
     * @param expectedLastModified of the file version
     * @param unknownFile makes the same file without what is known of it
     */
    TrinoOriginInput(TrinoInputFile file, Instant expectedLastModified, Supplier<TrinoInputFile> unknownFile)
    {
        this.file = requireNonNull(file, "file is null");
        this.expectedLastModified = requireNonNull(expectedLastModified, "expectedLastModified is null");
        this.unknownFile = requireNonNull(unknownFile, "unknownFile is null");
    }

    TrinoInputFile file()
    {
        return file;
    }

    @Override
    public void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        input().readFully(position, buffer, offset, length);
    }

    @Override
    public int readTail(byte[] buffer, int offset, int maxLength)
            throws IOException
    {
        return input().readTail(buffer, offset, maxLength);
    }

    private synchronized TrinoInput input()
            throws IOException
    {
        if (closed) {
            throw new IOException("Input closed: " + file.location());
        }
        if (input == null) {
            input = file.newInput();
        }
        return input;
    }

    @Override
    public FileState current()
            throws IOException
    {
        // within a context the split's own length would be the answer
        try (ReadContext.Opened _ = ReadContext.none()) {
            TrinoInputFile current = unknownFile.get();
            return new FileState(current.length(), atExpectedPrecision(current.lastModified()).toEpochMilli());
        }
    }

    /**
     * A listing of some stores tells milliseconds, where the answer to a HEAD, an HTTP date, has none.
     */
    private Instant atExpectedPrecision(Instant lastModified)
    {
        return lastModified.equals(expectedLastModified.truncatedTo(ChronoUnit.SECONDS)) ? expectedLastModified : lastModified;
    }

    @Override
    public synchronized void close()
            throws IOException
    {
        closed = true;
        if (input != null) {
            input.close();
        }
    }
}
