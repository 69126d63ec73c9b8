package io.cachedhive.client.connection;

import java.io.IOException;

/**
 * A worker could not be asked, or refused: the message is one sentence for an operator.
 */
public class WorkerException
        extends IOException
{
    public WorkerException(String message)
    {
        super(message);
    }

    public WorkerException(String message, Throwable cause)
    {
        super(message, cause);
    }
}
