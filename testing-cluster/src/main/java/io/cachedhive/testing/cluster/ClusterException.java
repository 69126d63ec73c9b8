package io.cachedhive.testing.cluster;

/** Something of the cluster did not start, did not answer, or died; the message says which, and ends with the last lines of its output. */
public class ClusterException
        extends RuntimeException
{
    public ClusterException(String message)
    {
        super(message);
    }

    public ClusterException(String message, Throwable cause)
    {
        super(message, cause);
    }
}
