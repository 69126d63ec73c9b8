package io.cachedhive.testing.cluster.s3;

import java.util.ArrayList;
import java.util.List;

import static com.google.common.base.Preconditions.checkArgument;
import static java.lang.Math.toIntExact;

/** The log of a server without a log file. A mark is a count of requests. */
final class InMemoryS3RequestLog
        implements WritableS3RequestLog
{
    private final List<S3Request> requests = new ArrayList<>();

    @Override
    public synchronized void append(S3Request request)
    {
        requests.add(request);
    }

    @Override
    public synchronized long mark()
    {
        return requests.size();
    }

    @Override
    public synchronized List<S3Request> since(long mark)
    {
        checkArgument(mark >= 0 && mark <= requests.size(), "not a mark of this log: %s", mark);
        return List.copyOf(requests.subList(toIntExact(mark), requests.size()));
    }

    @Override
    public void close() {}
}
