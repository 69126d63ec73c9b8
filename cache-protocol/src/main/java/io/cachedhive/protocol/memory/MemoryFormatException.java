package io.cachedhive.protocol.memory;

import java.io.IOException;

/**
 * Thrown when a file is not a shared-memory file that this code can read. The message names the file, the violated
 * rule, and the expected and actual values.
 */
public class MemoryFormatException
        extends IOException
{
    public MemoryFormatException(String message)
    {
        super(message);
    }
}
