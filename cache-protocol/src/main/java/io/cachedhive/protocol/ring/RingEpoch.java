package io.cachedhive.protocol.ring;

import java.util.HexFormat;

/**
 * A digest of a ring's members. Equal sets of members have equal epochs. Epochs do not order rings by age.
 */
public record RingEpoch(long value)
{
    @Override
    public String toString()
    {
        return HexFormat.of().toHexDigits(value);
    }
}
