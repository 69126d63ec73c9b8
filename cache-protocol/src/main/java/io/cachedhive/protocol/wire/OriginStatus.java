package io.cachedhive.protocol.wire;

/**
 * What a worker knows of a catalog's origin.
 */
public enum OriginStatus
{
    /**
     * The worker fetches from it.
     */
    KNOWN,
    /**
     * The worker has no origin of that name: clients read and offer the bytes.
     */
    UNKNOWN,
    /**
     * The worker has an origin of that name with another endpoint or region: nothing is cached, lest two files be taken for one.
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
