package io.cachedhive.client;

import java.io.IOException;

/**
 * A file was replaced after some of its bytes were delivered, so that the rest of them would be of another state of the file.
 */
public final class FileReplacedException
        extends IOException
{
    FileReplacedException(String location)
    {
        super("file %s was replaced while it was read: run the query again".formatted(location));
    }
}
