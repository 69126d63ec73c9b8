package io.cachedhive.protocol.wire;

/**
 * How much a read wants its blocks to be worth keeping, from little to much. Guests have a class below, which no read asks for.
 */
public enum FillClass
{
    NORMAL,
    HIGH,
    /**
     * Not to leave for want of space.
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
