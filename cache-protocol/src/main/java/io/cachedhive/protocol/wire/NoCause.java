package io.cachedhive.protocol.wire;

/**
 * Why a worker does not serve a block: the client reads it from the origin and counts it as bypass with this cause.
 */
public enum NoCause
{
    /**
     * Not in the cache, and the read did not ask for a fill; or dropped while it was fetched, by a flush for instance.
     */
    ABSENT,
    /**
     * Queues or frames are full.
     */
    OVERLOADED,
    /**
     * The origin refused or failed; the client's own attempt tells the user how.
     */
    ORIGIN_FAILED,
    /**
     * The file at the origin is not the version that was asked for. Said only when the origin said so: a reader that has bytes of the version fails.
     */
    VERSION_GONE,
    /**
     * The origin is unknown to this worker, and nobody else filled the block in time.
     */
    LEASE_TIMEOUT,
    /**
     * The catalog's origin has another digest than the worker's origin of that name.
     */
    ORIGIN_MISMATCH,
    /**
     * The worker is stopping or starting.
     */
    UNAVAILABLE,
    /**
     * The request contradicts itself or the worker's configuration.
     */
    INVALID_REQUEST;

    private static final NoCause[] VALUES = values();

    static NoCause read(WireReader reader)
            throws WireException
    {
        byte code = reader.getByte();
        if (code < 0 || code >= VALUES.length) {
            throw new WireException("unknown cause: " + code);
        }
        return VALUES[code];
    }
}
