package io.cachedhive.plugin.filesystem;

import io.cachedhive.client.FileState;
import io.cachedhive.client.OriginInput;
import io.cachedhive.plugin.context.ReadContext;
import io.trino.filesystem.TrinoInput;
import io.trino.filesystem.TrinoInputFile;

import java.io.Closeable;
import java.io.IOException;
import java.util.function.Supplier;

import static java.util.Objects.requireNonNull;

/**
 * A file of the origin, read by Trino's own file system. Opened when it is first needed.
 */
class TrinoOriginInput
        implements OriginInput, Closeable
{
    private final TrinoInputFile file;
    private final Supplier<TrinoInputFile> unknownFile;
    private TrinoInput input;
    private boolean closed;

    /**
     * @param unknownFile makes the same file without what is known of it
     */
    TrinoOriginInput(TrinoInputFile file, Supplier<TrinoInputFile> unknownFile)
    {
        this.file = requireNonNull(file, "file is null");
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
            return new FileState(current.length(), current.lastModified().toEpochMilli());
        }
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
