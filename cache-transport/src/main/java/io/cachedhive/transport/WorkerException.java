package io.cachedhive.transport;

import io.cachedhive.protocol.wire.NoCause;

import java.io.IOException;

import static java.util.Objects.requireNonNull;

/**
 * A worker could not be asked, or refused: the message is one sentence for an operator. Has no stack trace, since a worker that is away
 * makes as many of these as there are reads.
 */
public class WorkerException
        extends IOException
{
    private final Reason reason;

    public WorkerException(Reason reason, String message)
    {
        super(message);
        this.reason = requireNonNull(reason, "reason is null");
    }

    public enum Reason
    {
        /**
         * Nobody listens there, or the connection was lost, or the worker starts or stops.
         */
        UNREACHABLE,
        /**
         * No answer in time.
         */
        SILENT,
        /**
         * Silent several times in a row, and no probe was answered since.
         */
        BREAKER_OPEN,
        /**
         * Too many requests are under way, of this client or of the worker.
         */
        OVERLOADED,
        /**
         * The worker does not want this client, or the client not this worker.
         */
        REFUSED,
        /**
         * The answer is not of the protocol, or an error.
         */
        PROTOCOL,
        /**
         * This client is closed.
         */
        CLOSED,
    }

    /**
     * A worker does not answer a question, for a cause that may pass or not.
     */
    static WorkerException no(Endpoint endpoint, NoCause cause)
    {
        return switch (cause) {
            case UNAVAILABLE -> new WorkerException(Reason.UNREACHABLE, "cache worker at %s is starting or stopping".formatted(endpoint));
            case OVERLOADED -> new WorkerException(Reason.OVERLOADED, "cache worker at %s is overloaded".formatted(endpoint));
            default -> new WorkerException(Reason.PROTOCOL, "cache worker at %s answers %s".formatted(endpoint, cause));
        };
    }

    public Reason reason()
    {
        return reason;
    }

    @Override
    public synchronized Throwable fillInStackTrace()
    {
        return this;
    }
}
