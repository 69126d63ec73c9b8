package io.cachedhive.trino.filesystem;

import com.google.common.primitives.Bytes;
import io.cachedhive.client.CachedFile;
import io.cachedhive.client.FileReplacedException;
import io.cachedhive.client.PendingReadAhead;
import io.cachedhive.client.StreamRead;
import io.cachedhive.client.counters.ReadAhead;
import io.trino.filesystem.Location;
import io.trino.filesystem.TrinoInputStream;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.Executor;

import static java.lang.Math.clamp;
import static java.lang.Math.max;
import static java.lang.Math.min;
import static java.util.Objects.checkFromIndexSize;
import static java.util.Objects.requireNonNull;

/**
 * A stream read through the cache, with the contract of Trino's S3 stream.
 *
 * <p>Hive's text readers ask for a kilobyte at a time. So it reads ahead in windows that end at a block's boundary, and that grow for as long as the
 * reader goes straight on: to the end of the split, behind which only the rest of a line is wanted. While the reader is busy with a window that was not in
 * shared memory, the next is on its way. What it read ahead is counted when it is used.
 *
 * <p>Where the cache does not serve, it becomes Trino's own stream, and stays that to its end: the bytes of one request are of one state of the file.
 */
final class CachedTrinoInputStream
        extends TrinoInputStream
{
    /**
     * The default block size of cache workers. With another one windows cross blocks, which costs a little and harms nothing.
     */
    private static final int BLOCK_BYTES = 1 << 20;
    private static final int MAX_WINDOW_BYTES = 4 * BLOCK_BYTES;
    private static final int MAX_ARRAY_LENGTH = Integer.MAX_VALUE - 8;

    private final Location location;
    private final long fileLength;
    private final long readAheadLimit;
    private final CachedFile file;
    private final Closeable origin;
    private final OriginStreamOpener originStreamOpener;
    private final Executor readAheadExecutor;

    private long position;
    // whether the reader was given bytes before Trino's own stream was opened
    private boolean delivered;
    // the bytes [windowStart, windowEnd) of the file are in the window from index 0 on
    private byte[] window = new byte[0];
    private long windowStart;
    private long windowEnd;
    private ReadAhead windowRead;
    private int nextWindowBytes = BLOCK_BYTES;
    // the next window; null if it is not on its way
    private PendingReadAhead pending;

    // Trino's own stream, from where the cache did not serve; null before
    private TrinoInputStream originStream;
    private StreamRead.Bypassed bypass;
    // counts the bytes of Trino's own stream; null before the first of them
    private ReadAhead originBytes;

    private boolean closed;

    /**
     * Opens Trino's own stream of the file.
     */
    interface OriginStreamOpener
    {
        TrinoInputStream open()
                throws IOException;
    }

    /**
     * @param readAheadLimit where the reader is expected to stop, bytes from the start of the file
     * @param origin closed with the stream
     * @param readAheadExecutor runs reads that no reader waits for yet, in threads that may wait
     */
    CachedTrinoInputStream(
            Location location,
            long fileLength,
            long readAheadLimit,
            CachedFile file,
            Closeable origin,
            OriginStreamOpener originStreamOpener,
            Executor readAheadExecutor)
    {
        this.location = requireNonNull(location, "location is null");
        this.fileLength = fileLength;
        this.readAheadLimit = readAheadLimit;
        this.file = requireNonNull(file, "file is null");
        this.origin = requireNonNull(origin, "origin is null");
        this.originStreamOpener = requireNonNull(originStreamOpener, "originStreamOpener is null");
        this.readAheadExecutor = requireNonNull(readAheadExecutor, "readAheadExecutor is null");
    }

    @Override
    public int available()
            throws IOException
    {
        ensureOpen();
        return originStream == null ? buffered() : originStream.available();
    }

    private int buffered()
    {
        if (position < windowStart || position >= windowEnd) {
            return 0;
        }
        return (int) (windowEnd - position);
    }

    @Override
    public long getPosition()
    {
        return position;
    }

    @Override
    public void seek(long position)
            throws IOException
    {
        ensureOpen();
        if (originStream != null) {
            originStream.seek(position);
        }
        else if (position < 0) {
            throw new IOException("Negative seek offset");
        }
        else if (position > fileLength) {
            throw new IOException("Cannot seek to %s. File size is %s: %s".formatted(position, fileLength, location));
        }
        this.position = position;
    }

    @Override
    public int read()
            throws IOException
    {
        ensureOpen();
        if (originStream == null && buffered() > 0) {
            int value = window[(int) (position - windowStart)] & 0xFF;
            windowRead.use(1);
            position++;
            delivered = true;
            return value;
        }
        byte[] value = new byte[1];
        return read(value, 0, 1) < 0 ? -1 : value[0] & 0xFF;
    }

    @Override
    public int read(byte[] bytes, int offset, int length)
            throws IOException
    {
        ensureOpen();
        checkFromIndexSize(offset, length, bytes.length);
        if (length == 0) {
            return 0;
        }
        if (originStream == null && buffered() == 0) {
            if (position >= fileLength) {
                return -1;
            }
            if (length < BLOCK_BYTES || pending != null) {
                fillWindow();
            }
            else {
                int count = (int) min(length, fileLength - position);
                if (readPastWindow(bytes, offset, count)) {
                    return count;
                }
            }
        }
        return originStream == null ? readWindow(bytes, offset, length) : readOrigin(bytes, offset, length);
    }

    private int readWindow(byte[] bytes, int offset, int length)
    {
        int count = min(length, buffered());
        System.arraycopy(window, (int) (position - windowStart), bytes, offset, count);
        windowRead.use(count);
        position += count;
        delivered = true;
        return count;
    }

    /**
     * @return false if the cache does not serve, and Trino's own stream is open instead
     */
    private boolean readPastWindow(byte[] bytes, int offset, int length)
            throws IOException
    {
        return switch (fromCache(() -> file.readAhead(position, bytes, offset, length))) {
            case StreamRead.Served served -> {
                served.bytes().use(length);
                position += length;
                delivered = true;
                yield true;
            }
            case StreamRead.Bypassed bypassed -> {
                openOriginStream(bypassed);
                yield false;
            }
        };
    }

    private void fillWindow()
            throws IOException
    {
        boolean straightOn = position == windowEnd && windowRead != null;
        int windowBytes = straightOn ? nextWindowBytes : BLOCK_BYTES;

        // not valid while it is being filled, nor after a failure
        windowStart = 0;
        windowEnd = 0;
        PendingReadAhead ahead = pending;
        pending = null;
        StreamRead read;
        long start;
        int length;
        if (ahead != null && position >= ahead.position() && position < ahead.position() + ahead.bytes().length) {
            start = ahead.position();
            length = ahead.bytes().length;
            read = fromCache(ahead::finish);
            window = ahead.bytes();
        }
        else {
            if (ahead != null) {
                ahead.cancel();
            }
            start = position;
            length = (int) (endOfWindow(start, windowBytes) - start);
            if (window.length < length) {
                window = new byte[length];
            }
            read = fromCache(() -> file.readAhead(start, window, 0, length));
        }
        switch (read) {
            case StreamRead.Served served -> {
                windowRead = served.bytes();
                windowStart = start;
                windowEnd = start + length;
            }
            case StreamRead.Bypassed bypassed -> {
                openOriginStream(bypassed);
                return;
            }
        }
        nextWindowBytes = min(windowBytes * 2, MAX_WINDOW_BYTES);
        if (straightOn && windowEnd < min(readAheadLimit, fileLength) && windowRead.cameFromWorkers()) {
            pending = file.beginReadAhead(windowEnd, (int) (endOfWindow(windowEnd, nextWindowBytes) - windowEnd), readAheadExecutor).orElse(null);
        }
    }

    private interface CacheRead
    {
        StreamRead read()
                throws IOException;
    }

    private static StreamRead fromCache(CacheRead read)
            throws IOException
    {
        try {
            return read.read();
        }
        catch (FileReplacedException e) {
            throw ReplacedFiles.failure(e);
        }
    }

    private void openOriginStream(StreamRead.Bypassed bypassed)
            throws IOException
    {
        TrinoInputStream stream = originStreamOpener.open();
        try {
            stream.seek(position);
        }
        catch (Throwable e) {
            try (stream) {
                throw e;
            }
        }
        originStream = stream;
        bypass = bypassed;
        window = new byte[0];
    }

    private int readOrigin(byte[] bytes, int offset, int length)
            throws IOException
    {
        if (originBytes != null) {
            return use(originStream.read(bytes, offset, length));
        }
        long start = System.nanoTime();
        int count;
        try {
            count = originStream.read(bytes, offset, length);
        }
        catch (IOException e) {
            // a file that is shorter now, or gone
            if (delivered) {
                deliverFromOrigin(0, 0, e);
            }
            throw e;
        }
        // also at an end: the file may be shorter than the bytes that were given
        originBytes = deliverFromOrigin(max(0, count), System.nanoTime() - start, null);
        return use(count);
    }

    private int use(int count)
    {
        if (count > 0) {
            originBytes.use(count);
            position += count;
        }
        return count;
    }

    /**
     * @param failure of the read of the origin, where it failed; null otherwise
     */
    private ReadAhead deliverFromOrigin(int count, long waitNanos, IOException failure)
            throws IOException
    {
        try {
            return file.deliverFromOrigin(position, count, bypass.cause(), bypass.waitNanos() + waitNanos, delivered);
        }
        catch (FileReplacedException e) {
            if (failure != null) {
                e.addSuppressed(failure);
            }
            throw ReplacedFiles.failure(e);
        }
        catch (IOException e) {
            if (failure != null) {
                // the origin fails both requests, and the reader's own says why
                throw failure;
            }
            // the bytes were not given to the reader
            originStream.seek(position);
            throw e;
        }
    }

    private long endOfWindow(long start, int windowBytes)
    {
        long endOfBlock = endOfBlock(start);
        long end = endOfBlock + (windowBytes - BLOCK_BYTES);
        end = min(end, max(endOfBlock, endOfBlock(readAheadLimit - 1)));
        return min(end, fileLength);
    }

    private static long endOfBlock(long position)
    {
        return (position / BLOCK_BYTES + 1) * BLOCK_BYTES;
    }

    @Override
    public byte[] readAllBytes()
            throws IOException
    {
        ensureOpen();
        if (originStream != null) {
            return super.readAllBytes();
        }
        long remaining = max(0, fileLength - position);
        if (remaining > MAX_ARRAY_LENGTH) {
            throw new OutOfMemoryError("Required array size too large");
        }
        byte[] bytes = new byte[(int) remaining];
        int count = buffered() > 0 ? readWindow(bytes, 0, bytes.length) : 0;
        if (count == bytes.length) {
            return bytes;
        }
        forgetPending();
        if (readPastWindow(bytes, count, bytes.length - count)) {
            return bytes;
        }
        return Bytes.concat(Arrays.copyOf(bytes, count), super.readAllBytes());
    }

    @Override
    public byte[] readNBytes(int length)
            throws IOException
    {
        if (length < 0) {
            throw new IllegalArgumentException("len < 0");
        }
        ensureOpen();
        if (originStream != null) {
            return super.readNBytes(length);
        }
        byte[] bytes = new byte[clamp(fileLength - position, 0, length)];
        int count = readNBytes(bytes, 0, bytes.length);
        return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
    }

    @Override
    public long skip(long n)
            throws IOException
    {
        ensureOpen();
        long count = originStream == null ? clamp(n, 0, fileLength - position) : originStream.skip(n);
        position += count;
        return count;
    }

    @Override
    public void skipNBytes(long n)
            throws IOException
    {
        ensureOpen();
        if (originStream != null) {
            originStream.skipNBytes(n);
            position = originStream.getPosition();
            return;
        }
        if (n <= 0) {
            return;
        }
        long target = position + n;
        if (target < 0 || target > fileLength) {
            throw new EOFException("Unable to skip %s bytes (position=%s, fileSize=%s): %s".formatted(n, position, fileLength, location));
        }
        position = target;
    }

    private void ensureOpen()
            throws IOException
    {
        if (closed) {
            throw new IOException("Input stream closed: " + location);
        }
    }

    @Override
    public void close()
            throws IOException
    {
        if (closed) {
            return;
        }
        closed = true;
        forgetPending();
        window = new byte[0];
        windowRead = null;
        try (TrinoInputStream _ = originStream) {
            origin.close();
        }
    }

    private void forgetPending()
    {
        if (pending != null) {
            pending.cancel();
            pending = null;
        }
    }

    @Override
    public String toString()
    {
        return location.toString();
    }
}
