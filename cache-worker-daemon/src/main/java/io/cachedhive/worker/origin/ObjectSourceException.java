package io.cachedhive.worker.origin;

import static java.util.Objects.requireNonNull;

/**
 * The origin did not give what was asked for. The message says what it said instead.
 */
public class ObjectSourceException
        extends Exception
{
    public enum Reason
    {
        /**
         * There is no such object, or it is shorter.
         */
        GONE,
        /**
         * The object has another ETag.
         */
        CHANGED,
        /**
         * This worker may not read it, or has no credentials.
         */
        DENIED,
        /**
         * Answered that it is asked too much.
         */
        THROTTLED,
        /**
         * Could not be reached, or broke off.
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
