package io.cachedhive.client;

import io.cachedhive.client.counters.ReadAhead;

import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.Executor;

/**
 * One open file, read through the cache. Any number of threads may read. Holds no resources, so there is nothing to close.
 */
public interface CachedFile
{
    /**
     * Reads a range that lies within the file version. Each call gives bytes of one state of the file.
     * What the cache cannot serve is read from the origin, so the only failures are the origin's.
     *
     * <p>Counted once, when it succeeded.
     *
     * @throws InterruptedIOException when the thread is interrupted while it waits for a worker; the thread stays interrupted
     */
    void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * As {@link #readFully}, for a stream, which reads further than it was asked for yet: nothing is counted but what the stream says it used.
     */
    ReadAhead readAhead(long position, byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * Begins to read ahead while the stream's reader is still busy with what it has. Asks the cache only: what the cache does not serve is read by the reader itself,
     * when it comes to it.
     *
     * @param executor runs the read, in a thread that may wait
     */
    PendingReadAhead beginReadAhead(long position, int length, Executor executor)
            throws EOFException;
}
