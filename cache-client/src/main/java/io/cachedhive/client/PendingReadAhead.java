package io.cachedhive.client;

import java.io.IOException;
import java.io.InterruptedIOException;

/**
 * A range of a file on its way to a reader that has not asked for it yet. For one thread at a time.
 */
public interface PendingReadAhead
{
    /**
     * Of the first byte, in the file.
     */
    long position();

    /**
     * Holds the bytes from index 0 on, all of them when {@link #finish} says that they were served.
     */
    byte[] bytes();

    /**
     * Waits until the bytes are there, or the cache does not serve them.
     *
     * @throws InterruptedIOException when the thread is interrupted while it waits; the thread stays interrupted
     */
    StreamRead finish()
            throws IOException;

    /**
     * Nobody will ask for it. Does not wait.
     */
    void cancel();
}
