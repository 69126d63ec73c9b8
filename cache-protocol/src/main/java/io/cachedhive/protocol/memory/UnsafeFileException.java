package io.cachedhive.protocol.memory;

import java.io.IOException;

/**
 * A file is refused because another user may have made or may change it. The message is the end of a sentence about the
 * file.
 */
public class UnsafeFileException
        extends IOException
{
    public UnsafeFileException(String message)
    {
        super(message);
    }
}
