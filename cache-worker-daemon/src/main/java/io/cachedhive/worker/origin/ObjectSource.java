package io.cachedhive.worker.origin;

import java.util.Optional;

/**
 * Reads the objects of one object store. All calls block until the head of the answer is there, retries of failures included. An answer that a GET is one too many
 * is the caller's to deal with: it knows what else is asked of the bucket.
 */
public interface ObjectSource
        extends AutoCloseable
{
    /**
     * Exactly the range is asked for; a server that answers with another one is a failure.
     *
     * @param ifMatch the ETag that the object must have
     */
    ObjectRange open(S3ObjectLocation location, long position, long length, Optional<String> ifMatch)
            throws ObjectSourceException;

    ObjectState head(S3ObjectLocation location)
            throws ObjectSourceException;

    /**
     * How often to make a request that is refused as one too many.
     */
    int maxAttempts();

    @Override
    void close();
}
