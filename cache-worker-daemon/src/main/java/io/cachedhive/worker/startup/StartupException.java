package io.cachedhive.worker.startup;

/**
 * The worker cannot start for a reason that the operator can mend. The message is one sentence: what is wrong, where, and how to mend it.
 */
public class StartupException
        extends RuntimeException
{
    public StartupException(String message)
    {
        super(message);
    }

    public StartupException(String message, Throwable cause)
    {
        super(message, cause);
    }
}
