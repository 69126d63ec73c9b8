package io.cachedhive.protocol.wire;

import java.io.IOException;

/**
 * Thrown when a peer violates the protocol or exceeds a limit. The connection is no longer usable.
 */
public class WireException
        extends IOException
{
    public WireException(String message)
    {
        super(message);
    }
}
