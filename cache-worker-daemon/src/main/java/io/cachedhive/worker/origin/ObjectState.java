package io.cachedhive.worker.origin;

import java.time.Instant;
import java.util.Optional;

import static java.util.Objects.requireNonNull;

/**
 * The metadata of an object from the response headers of its origin.
 *
 * @param length the length of the whole object in bytes
 * @param etag as sent by the origin, with quotes; empty if it sent none or a weak one, which names no bytes (RFC 9110, 8.8.1)
 * @param lastModified in whole seconds
 * @param answered the time of the response by the origin's clock, in whole seconds; empty if unknown
 */
public record ObjectState(long length, Optional<String> etag, Optional<Instant> lastModified, Optional<Instant> answered)
{
    public ObjectState
    {
        etag = etag.filter(value -> !value.startsWith("W/"));
        requireNonNull(lastModified, "lastModified is null");
        requireNonNull(answered, "answered is null");
    }
}
