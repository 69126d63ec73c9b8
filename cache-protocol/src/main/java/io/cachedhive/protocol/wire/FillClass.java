package io.cachedhive.protocol.wire;

/**
 * The retention class that a read requests for its blocks, in ascending order. Guest blocks have a lower class, which
 * reads cannot request.
 */
public enum FillClass
{
    NORMAL,
    HIGH,
    /**
     * Never evicted to free space.
     */
    PINNED;

    private static final FillClass[] VALUES = values();

    static FillClass read(WireReader reader)
            throws WireException
    {
        byte code = reader.getByte();
        if (code < 0 || code >= VALUES.length) {
            throw new WireException("unknown class: " + code);
        }
        return VALUES[code];
    }
}
