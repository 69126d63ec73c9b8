package io.cachedhive.client;

import io.cachedhive.client.counters.BypassCause;
import io.cachedhive.transport.WorkerException;

import static java.util.Objects.requireNonNull;

/**
 * The cache does not serve this read.
 */
final class Bypass
        extends Exception
{
    private final BypassCause cause;
    private final boolean replaced;

    Bypass(BypassCause cause, String message)
    {
        this(cause, message, cause == BypassCause.VERSION_GONE);
    }

    private Bypass(BypassCause cause, String message, boolean replaced)
    {
        // thrown for every read while a worker is away: no stack trace
        super(message, null, false, false);
        this.cause = requireNonNull(cause, "cause is null");
        this.replaced = replaced;
    }

    /**
     * Blocks of two states of a file.
     */
    static Bypass ofTwoStates(String location)
    {
        return new Bypass(BypassCause.ETAG_CHANGED, "blocks of two states of %s".formatted(location), true);
    }

    /**
     * A worker that was the owner of a chunk could not be asked.
     */
    static Bypass of(WorkerException failure)
    {
        return new Bypass(
                switch (failure.reason()) {
                    case UNREACHABLE, REFUSED -> BypassCause.DISCONNECTED;
                    case SILENT -> BypassCause.TIMEOUT;
                    case BREAKER_OPEN -> BypassCause.BREAKER_OPEN;
                    case OVERLOADED -> BypassCause.OVERLOADED;
                    case PROTOCOL -> BypassCause.PROTOCOL_ERROR;
                    case CLOSED -> BypassCause.CLOSED;
                },
                failure.getMessage());
    }

    BypassCause bypassCause()
    {
        return cause;
    }

    /**
     * Whether the file is known to have been replaced.
     */
    boolean isReplaced()
    {
        return replaced;
    }
}
