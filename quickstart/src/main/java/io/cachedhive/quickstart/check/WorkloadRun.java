package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.statistics.BytesBySource;

import java.util.List;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * Queries run one after the other.
 *
 * @param name as messages call it
 * @param requests what the S3 server saw from the first query's begin until the counters were at rest
 * @param bytes what the cache counted meanwhile, empty for a catalog without one
 */
public record WorkloadRun(String name, List<QueryRun> queries, List<S3Request> requests, Optional<BytesBySource> bytes)
{
    public WorkloadRun
    {
        requireNonNull(name, "name is null");
        queries = List.copyOf(queries);
        requests = List.copyOf(requests);
        requireNonNull(bytes, "bytes is null");
    }

    /// GETs and HEADs of data files.
    public List<S3Request> dataFileRequests()
    {
        return requests.stream()
                .filter(S3Request::isDataFile)
                .filter(request -> request.isGet() || request.isHead())
                .toList();
    }

    public List<S3Request> lists()
    {
        return requests.stream().filter(S3Request::isList).toList();
    }

    public long queryMillis()
    {
        return queries.stream().mapToLong(query -> query.result().elapsedMillis()).sum();
    }
}
