package io.cachedhive.quickstart.check;

import io.cachedhive.testing.cluster.s3.S3Request;
import io.cachedhive.testing.cluster.sql.QueryResult;

import java.util.List;

import static java.util.Objects.requireNonNull;

/**
 * One execution of a query.
 *
 * @param requests what the S3 server saw meanwhile
 */
public record QueryRun(QueryTask task, QueryResult result, List<S3Request> requests)
{
    public QueryRun
    {
        requireNonNull(task, "task is null");
        requireNonNull(result, "result is null");
        requests = List.copyOf(requests);
    }
}
