package io.cachedhive.admin.cluster;

/**
 * The hosts file cannot be used: the message is one sentence that says where, what, and how to mend it.
 */
public final class ClusterFileException
        extends Exception
{
    public ClusterFileException(String message)
    {
        super(message);
    }
}
