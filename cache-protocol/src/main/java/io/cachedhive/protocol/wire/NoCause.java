package io.cachedhive.protocol.wire;

/**
 * Why a worker does not serve a block. The client reads it from the origin and counts it as bypass with this cause.
 */
public enum NoCause
{
    /**
     * The block is not cached and the read did not request a fill, or the block was dropped while it was fetched, for
     * instance by a flush.
     */
    ABSENT,
    /**
     * Queues or frames are full.
     */
    OVERLOADED,
    /**
     * The origin rejected the request or failed. The client's own attempt reports the error to the user.
     */
    ORIGIN_FAILED,
    /**
     * The file at the origin is not the requested version. Sent only if the origin reported so, because a reader that
     * already has bytes of the version fails.
     */
    VERSION_GONE,
    /**
     * The worker does not know the origin, and no other client filled the block in time.
     */
    LEASE_TIMEOUT,
    /**
     * The catalog's origin has another digest than the worker's origin of that name.
     */
    ORIGIN_MISMATCH,
    /**
     * The worker is starting or stopping.
     */
    UNAVAILABLE,
    /**
     * The request contradicts itself or the worker's configuration.
     */
    INVALID_REQUEST,
    /**
     * The block in RAM does not match its checksums.
     */
    CORRUPT,
    /**
     * The worker's origin does not allow the location of the file.
     */
    LOCATION_NOT_ALLOWED,
    /**
     * The object is encrypted under a key of the origin's key service, and the worker may not keep it in plain text.
     */
    ENCRYPTED;

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
