package io.cachedhive.protocol.ring;

import java.util.HexFormat;

/**
 * The digest of a ring's members: equal sets have equal epochs, whoever built them. It says nothing about which of two rings is newer.
 */
public record RingEpoch(long value)
{
    @Override
    public String toString()
    {
        return HexFormat.of().toHexDigits(value);
    }
}
