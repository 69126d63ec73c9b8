package io.cachedhive.testing.cluster.s3;

import java.io.Closeable;

interface WritableS3RequestLog
        extends S3RequestLog, Closeable
{
    /** Returns when readers of the log see the request. */
    void append(S3Request request);

    @Override
    void close();
}
