package io.cachedhive.protocol.wire;

import java.io.IOException;

/**
 * What came from the peer is not of this protocol, or over a limit: the connection is of no more use.
 */
public class WireException
        extends IOException
{
    public WireException(String message)
    {
        super(message);
    }
}
