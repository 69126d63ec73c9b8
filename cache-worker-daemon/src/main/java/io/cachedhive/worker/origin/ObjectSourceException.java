package io.cachedhive.worker.origin;

import static java.util.Objects.requireNonNull;

/**
 * Thrown when the origin does not return the requested object. The message describes the response.
 */
public class ObjectSourceException
        extends Exception
{
    public enum Reason
    {
        /**
         * The object does not exist or is shorter.
         */
        GONE,
        /**
         * The object has another ETag.
         */
        CHANGED,
        /**
         * This worker has no permission to read the object, or no credentials.
         */
        DENIED,
        /**
         * The object is encrypted with SSE-KMS, and this worker may not keep it.
         */
        ENCRYPTED,
        /**
         * The origin throttled the request.
         */
        THROTTLED,
        /**
         * The origin could not be reached, or the connection broke.
         */
        UNREACHABLE,
        FAILED,
    }

    private final Reason reason;

    public ObjectSourceException(Reason reason, String message, Throwable cause)
    {
        super(message, cause);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public Reason reason()
    {
        return reason;
    }
}
