package io.cachedhive.client;

import java.io.IOException;

/**
 * A file as Trino's own file system reads it: what is used when the cache does not serve. Any number of threads may call it.
 */
public interface OriginInput
{
    /**
     * Reads a range within the file. One call is to be one request of the origin.
     */
    void readFully(long position, byte[] buffer, int offset, int length)
            throws IOException;

    /**
     * Asks the origin anew; never from what is remembered.
     */
    FileState current()
            throws IOException;
}
