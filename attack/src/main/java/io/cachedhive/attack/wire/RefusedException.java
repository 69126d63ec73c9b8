package io.cachedhive.attack.wire;

import java.io.IOException;

/**
 * The peer ended a connection and reported the reason.
 */
public final class RefusedException
        extends IOException
{
    public RefusedException(String message)
    {
        super(message);
    }
}
