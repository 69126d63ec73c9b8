package io.cachedhive.worker.origin;

import java.util.Optional;

/**
 * Reads the objects of one object store. All calls block until the response headers have arrived, including retries.
 * GET requests that the store throttles are not retried here but by the caller, which knows all requests to the bucket.
 */
public interface ObjectSource
        extends AutoCloseable
{
    /**
     * Requests exactly this range; a response with another range is a failure.
     *
     * @param ifMatch the ETag that the object must have
     */
    ObjectRange open(S3ObjectLocation location, long position, long length, Optional<String> ifMatch)
            throws ObjectSourceException;

    ObjectState head(S3ObjectLocation location)
            throws ObjectSourceException;

    /**
     * Returns the maximum number of attempts of a throttled request.
     */
    int maxAttempts();

    @Override
    void close();
}
