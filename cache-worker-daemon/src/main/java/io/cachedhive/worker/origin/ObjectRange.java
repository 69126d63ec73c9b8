package io.cachedhive.worker.origin;

import java.io.IOException;

/**
 * A range of an object that is being read from the origin. Used by one thread.
 */
public interface ObjectRange
        extends AutoCloseable
{
    ObjectState state();

    /**
     * Reads bytes of the range.
     *
     * @return the number of bytes read, or -1 at the end of the response, which may come before the end of the range
     */
    int read(byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * Returns the connection to the pool, or closes it if the response was not read to its end.
     */
    @Override
    void close();
}
