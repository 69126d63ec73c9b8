package io.cachedhive.worker.origin;

import java.time.Instant;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * What an origin says of an object in the head of an answer.
 *
 * @param length of the whole object, bytes
 * @param etag as the origin wrote it, with quotes
 * @param lastModified in whole seconds
 * @param answered the origin's own clock when it answered, in whole seconds; empty if it does not tell
 */
public record ObjectState(long length, Optional<String> etag, Optional<Instant> lastModified, Optional<Instant> answered)
{
    public ObjectState
    {
        requireNonNull(etag, "etag is null");
        requireNonNull(lastModified, "lastModified is null");
        requireNonNull(answered, "answered is null");
    }
}
