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
     * Reads a range within the file by a request of its own, beside other reads: neither they nor the end of the input wait for it.
     */
    default void readApart(long position, byte[] buffer, int offset, int length)
            throws IOException
    {
        readFully(position, buffer, offset, length);
    }

    /**
     * Reads the end of the file, wherever the origin has it now, by one request.
     *
     * @return the number of bytes read, which is less than {@code maxLength} if the file is shorter
     */
    int readTail(byte[] buffer, int offset, int maxLength)
            throws IOException;

    /**
     * Asks the origin, each time.
     *
     * @throws java.io.FileNotFoundException if there is no such file any more
     */
    FileState current()
            throws IOException;
}
