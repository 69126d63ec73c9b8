package io.cachedhive.worker.startup;

/**
 * Thrown when the worker cannot start for a reason that the operator can fix. The message states the problem, its
 * location and the fix.
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
