package io.cachedhive.tests.containers;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3RequestLog;

import java.util.stream.Stream;

/**
 * What the object store was asked for of the files of a table.
 */
final class DataFiles
{
    // as cache workers name themselves in their requests
    private static final String CACHE_WORKER = "cachedhive";

    private DataFiles() {}

    /**
     * @param prefix of the table's keys
     */
    static long gets(S3RequestLog log, long mark, String prefix)
    {
        return requests(log, mark, prefix).count();
    }

    /**
     * Of cache workers, not of readers.
     *
     * @param prefix of the table's keys
     */
    static long getsOfCacheWorkers(S3RequestLog log, long mark, String prefix)
    {
        return requests(log, mark, prefix)
                .filter(request -> request.application().equals(CACHE_WORKER))
                .count();
    }

    private static Stream<S3Request> requests(S3RequestLog log, long mark, String prefix)
    {
        return log.since(mark).stream()
                .filter(S3Request::isGet)
                .filter(S3Request::isDataFile)
                .filter(request -> request.key().orElseThrow().startsWith(prefix));
    }
}
