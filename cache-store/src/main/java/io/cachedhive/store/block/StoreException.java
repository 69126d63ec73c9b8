package io.cachedhive.store.block;

/**
 * The store cannot be opened. The message is one sentence for the operator: the problem, its place and the fix.
 */
public class StoreException
        extends Exception
{
    public StoreException(String message)
    {
        super(message);
    }

    public StoreException(String message, Throwable cause)
    {
        super(message, cause);
    }
}
