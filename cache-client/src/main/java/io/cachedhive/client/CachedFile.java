package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.client.counters.ReadAhead;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * One open file, read through the cache. Any number of threads may read. Holds no resources, so there is nothing to close.
 *
 * <p>All bytes that a split gets of a file are of one state of it, wherever they come from ({@link DeliveredStates}). Where that cannot be had, since the file was
 * replaced meanwhile, reads fail with {@link FileReplacedException}. As long as nothing was delivered from the cache, the file is read as plain Hive reads it.
 */
public interface CachedFile
{
    /**
     * Reads a range. What the cache cannot serve is read from the origin, so the only other failures are the origin's.
     *
     * <p>Counted once, when it succeeded.
     *
     * @throws EOFException if the range is not within the file
     * @throws InterruptedIOException when the thread is interrupted while it waits for a worker; the thread stays interrupted
     */
    void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * As {@link #readFully}, the end of the file. The origin may have it elsewhere than the file version says.
     *
     * @return the number of bytes read
     */
    int readTail(byte[] buffer, int offset, int maxLength)
            throws IOException;

    /**
     * Reads a range within the file version for a stream, which reads further than it was asked for yet: nothing is counted but what the stream says it used.
     *
     * @throws InterruptedIOException when the thread is interrupted while it waits for a worker; the thread stays interrupted
     */
    StreamRead readAhead(long position, byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * Begins to read ahead while the stream's reader is still busy with what it has.
     *
     * @param executor runs the read, in a thread that may wait
     * @return empty if the client's memory for it is in use: the stream reads without it
     */
    Optional<PendingReadAhead> beginReadAhead(long position, int length, Executor executor)
            throws EOFException;

    /**
     * To be called by a stream that reads the origin by itself, with the first bytes that it received, before it gives them to its reader.
     *
     * @param cause why the cache does not serve
     * @param waitNanos how long the reader waited
     * @param continued whether the stream gave its reader bytes before
     * @return counts the stream's bytes from here on
     */
    ReadAhead deliverFromOrigin(long position, int length, BypassCause cause, long waitNanos, boolean continued)
            throws IOException;
}
