package io.cachedhive.tests.cluster;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.s3.S3Service;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What the object store was asked for of the files of a table.
 *
 * @param byKey GETs of each object, without those that were not asked for
 * @param bytes that were sent in answer
 */
record DataFileGets(Map<String, Long> byKey, long bytes)
{
    /**
     * @param prefix of the table's keys. What the file metastore keeps under it, and reads for each query, is no data
     */
    static DataFileGets since(S3Service s3, long mark, String prefix)
    {
        return since(s3, mark, prefix, _ -> true);
    }

    /**
     * @param which of the requests are counted
     */
    static DataFileGets since(S3Service s3, long mark, String prefix, Predicate<S3Request> which)
    {
        Map<String, Long> byKey = new TreeMap<>();
        long bytes = 0;
        for (S3Request request : s3.log().since(mark)) {
            if (request.isGet() && request.isDataFile() && request.key().orElseThrow().startsWith(prefix) && which.test(request)) {
                byKey.merge(request.key().orElseThrow(), 1L, Long::sum);
                bytes += request.bytesSent();
            }
        }
        return new DataFileGets(byKey, bytes);
    }

    long count()
    {
        return count(byKey.keySet());
    }

    /**
     * Those of some objects.
     */
    long count(Collection<String> keys)
    {
        return keys.stream().mapToLong(key -> byKey.getOrDefault(key, 0L)).sum();
    }

    Set<String> keys()
    {
        return byKey.keySet();
    }
}
