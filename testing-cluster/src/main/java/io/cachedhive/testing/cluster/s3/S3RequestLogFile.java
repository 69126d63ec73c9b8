package io.cachedhive.testing.cluster.s3;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static com.google.common.base.Preconditions.checkArgument;
import static java.lang.Math.toIntExact;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.util.Objects.requireNonNull;

/**
 * A request log on disk, one line per request (see {@link S3Request#toLine}). A mark is a byte offset, so it holds across processes and restarts of the server, which appends.
 */
public final class S3RequestLogFile
        implements S3RequestLog
{
    private final Path file;

    private S3RequestLogFile(Path file)
    {
        this.file = requireNonNull(file, "file is null");
    }

    /** Reads a log that another process may still be writing. The file need not exist yet. */
    public static S3RequestLogFile open(Path file)
    {
        return new S3RequestLogFile(file);
    }

    static WritableS3RequestLog openForAppend(Path file)
    {
        return new Appender(file);
    }

    public Path file()
    {
        return file;
    }

    @Override
    public long mark()
    {
        try {
            return Files.size(file);
        }
        catch (NoSuchFileException _) {
            return 0;
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public List<S3Request> since(long mark)
    {
        long size = mark();
        checkArgument(mark >= 0 && mark <= size, "not a mark of this log: %s, size of %s is %s", mark, file, size);
        if (size == mark) {
            return List.of();
        }
        ByteBuffer buffer = ByteBuffer.allocate(toIntExact(size - mark));
        try (FileChannel channel = FileChannel.open(file, READ)) {
            while (buffer.hasRemaining()) {
                if (channel.read(buffer, mark + buffer.position()) < 0) {
                    throw new EOFException("%s became shorter while it was read".formatted(file));
                }
            }
        }
        catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String text = new String(buffer.array(), UTF_8);
        // a line is written by one write call, but its size may become visible before all of it is
        int end = text.lastIndexOf('\n') + 1;
        List<S3Request> requests = new ArrayList<>();
        text.substring(0, end).lines().forEach(line -> requests.add(S3Request.parse(line)));
        return List.copyOf(requests);
    }

    private static final class Appender
            implements WritableS3RequestLog
    {
        private final S3RequestLogFile reader;
        private final FileChannel channel;

        Appender(Path file)
        {
            this.reader = new S3RequestLogFile(file);
            try {
                Files.createDirectories(file.toAbsolutePath().getParent());
                this.channel = FileChannel.open(file, CREATE, APPEND);
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public synchronized void append(S3Request request)
        {
            ByteBuffer line = UTF_8.encode(request.toLine() + "\n");
            try {
                while (line.hasRemaining()) {
                    channel.write(line);
                }
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public long mark()
        {
            return reader.mark();
        }

        @Override
        public List<S3Request> since(long mark)
        {
            return reader.since(mark);
        }

        @Override
        public synchronized void close()
        {
            try {
                channel.close();
            }
            catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
