package io.cachedhive.store.block;

/**
 * The store cannot be opened. The message is one sentence for the operator: what is wrong, where, and how to mend it.
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
