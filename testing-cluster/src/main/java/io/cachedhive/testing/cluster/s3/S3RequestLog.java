package io.cachedhive.testing.cluster.s3;

import java.util.List;

/**
 * The ended requests of an S3 server, in the order of their ends.
 */
public interface S3RequestLog
{
    /** A point in the log: {@link #since} of it yields what came later. Meaningful for this log only. */
    long mark();

    /** The requests that ended after the mark was taken; 0 is the beginning. */
    List<S3Request> since(long mark);

    default List<S3Request> all()
    {
        return since(0);
    }

    default S3RequestCounts countsSince(long mark)
    {
        return S3RequestCounts.of(since(mark));
    }

    default S3RequestCounts dataFileCountsSince(long mark)
    {
        return S3RequestCounts.ofDataFiles(since(mark));
    }
}
