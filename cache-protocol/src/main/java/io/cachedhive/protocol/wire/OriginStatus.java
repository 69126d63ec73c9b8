package io.cachedhive.protocol.wire;

/**
 * How a worker handles an origin of a catalog.
 */
public enum OriginStatus
{
    /**
     * The worker fetches from the origin.
     */
    KNOWN,
    /**
     * The worker has no origin of that name. Clients read it and offer the bytes to the worker.
     */
    UNKNOWN,
    /**
     * The worker has an origin of that name with another endpoint or region. Nothing is cached, because files of the
     * two origins could be confused.
     */
    MISMATCH;

    private static final OriginStatus[] VALUES = values();

    static OriginStatus read(WireReader reader)
            throws WireException
    {
        byte code = reader.getByte();
        if (code < 0 || code >= VALUES.length) {
            throw new WireException("unknown origin status: " + code);
        }
        return VALUES[code];
    }
}
