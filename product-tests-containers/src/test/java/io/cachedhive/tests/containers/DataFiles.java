package io.cachedhive.tests.containers;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3RequestLog;

/**
 * What the object store was asked for of the files of a table.
 */
final class DataFiles
{
    private DataFiles() {}

    /**
     * @param prefix of the table's keys
     */
    static long gets(S3RequestLog log, long mark, String prefix)
    {
        return log.since(mark).stream()
                .filter(S3Request::isGet)
                .filter(S3Request::isDataFile)
                .filter(request -> request.key().orElseThrow().startsWith(prefix))
                .count();
    }
}
