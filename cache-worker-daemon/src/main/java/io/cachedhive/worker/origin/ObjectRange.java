package io.cachedhive.worker.origin;

import java.io.IOException;

/**
 * A range of an object on its way from the origin. Used by one thread.
 */
public interface ObjectRange
        extends AutoCloseable
{
    ObjectState state();

    /**
     * @return bytes read, or -1 at the end of the answer, which may come early
     */
    int read(byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * Ends the connection if the answer was not read to its end; otherwise the connection is used again.
     */
    @Override
    void close();
}
