package io.cachedhive.worker.origin;

import java.util.Optional;

/**
 * Reads the objects of one object store. All calls block until the head of the answer is there, retries included.
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

    @Override
    void close();
}
