package io.cachedhive.protocol.memory;

import java.io.IOException;

/**
 * A file is not a shared-memory file that this code can read. The message names the file, the rule, what was expected and what was found.
 */
public class MemoryFormatException
        extends IOException
{
    public MemoryFormatException(String message)
    {
        super(message);
    }
}
