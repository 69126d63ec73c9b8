package io.cachedhive.testing.cluster.s3;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import static java.util.stream.Collectors.groupingBy;

/**
 * Sums over requests of an S3 request log.
 *
 * @param gets requests for an object's bytes, whatever their status
 * @param puts requests that write an object: single, copy, or parts and completion of a multipart upload
 * @param bytesSent bytes of the bodies of all responses
 * @param errors requests answered with a status of 400 or more
 */
public record S3RequestCounts(long gets, long heads, long lists, long puts, long deletes, long others, long getBytes, long bytesSent, long errors)
{
    public static S3RequestCounts of(Collection<S3Request> requests)
    {
        long gets = 0;
        long heads = 0;
        long lists = 0;
        long puts = 0;
        long deletes = 0;
        long others = 0;
        long getBytes = 0;
        long bytesSent = 0;
        long errors = 0;
        for (S3Request request : requests) {
            switch (request.operation()) {
                case GET_OBJECT -> {
                    gets++;
                    getBytes += request.bytesSent();
                }
                case HEAD_OBJECT -> heads++;
                case LIST_OBJECTS -> lists++;
                case PUT_OBJECT, COPY_OBJECT, CREATE_MULTIPART_UPLOAD, UPLOAD_PART, COMPLETE_MULTIPART_UPLOAD -> puts++;
                case DELETE_OBJECT, DELETE_OBJECTS, ABORT_MULTIPART_UPLOAD -> deletes++;
                case HEAD_BUCKET, CREATE_BUCKET, DELETE_BUCKET, LIST_BUCKETS, OTHER -> others++;
            }
            bytesSent += request.bytesSent();
            if (request.status() >= 400) {
                errors++;
            }
        }
        return new S3RequestCounts(gets, heads, lists, puts, deletes, others, getBytes, bytesSent, errors);
    }

    /** Counts of GETs, HEADs, ... of data files only, see {@link S3Request#isDataFile}; listings are not about one file and are not in it. */
    public static S3RequestCounts ofDataFiles(Collection<S3Request> requests)
    {
        return of(requests.stream().filter(S3Request::isDataFile).toList());
    }

    public static Map<String, S3RequestCounts> byUserAgent(Collection<S3Request> requests)
    {
        return by(requests, S3Request::userAgent);
    }

    /** By the program that asked, see {@link S3Request#application}. */
    public static Map<String, S3RequestCounts> byApplication(Collection<S3Request> requests)
    {
        return by(requests, S3Request::application);
    }

    /**
     * Counts by bucket and the first {@code depth} names of the key or of the listed prefix, for example {@code lake/tpch/lineitem} at depth 2.
     */
    public static Map<String, S3RequestCounts> byPrefix(Collection<S3Request> requests, int depth)
    {
        return by(requests, request -> prefix(request, depth));
    }

    private static Map<String, S3RequestCounts> by(Collection<S3Request> requests, Function<S3Request, String> group)
    {
        Map<String, S3RequestCounts> result = new TreeMap<>();
        requests.stream()
                .collect(groupingBy(group))
                .forEach((name, members) -> result.put(name, of(members)));
        return result;
    }

    private static String prefix(S3Request request, int depth)
    {
        String[] names = request.key().or(request::listPrefix).orElse("").split("/");
        StringBuilder prefix = new StringBuilder(request.bucket().orElse(""));
        for (int index = 0; index < Math.min(depth, names.length); index++) {
            prefix.append('/').append(names[index]);
        }
        return prefix.toString();
    }
}
