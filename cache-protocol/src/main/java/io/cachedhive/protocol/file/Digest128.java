package io.cachedhive.protocol.file;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

import static java.util.Objects.checkFromIndexSize;

/**
 * The first 128 bits of a SHA-256 digest. The digest is wide enough to exclude accidental collisions, and
 * cryptographic, so that an attacker cannot create a file whose digest collides with another one.
 */
public record Digest128(long high, long low)
        implements Comparable<Digest128>
{
    public static final int BYTES = 16;

    // a prototype to clone; never updated
    private static final MessageDigest SHA_256 = newSha256();

    public static Digest128 sha256(ByteBuffer input)
    {
        try {
            // cloning avoids the algorithm lookup, which takes longer than the digest
            MessageDigest digest = (MessageDigest) SHA_256.clone();
            digest.update(input);
            return fromBytes(digest.digest(), 0);
        }
        catch (CloneNotSupportedException e) {
            throw new AssertionError("SHA-256 of this Java platform cannot be cloned", e);
        }
    }

    private static MessageDigest newSha256()
    {
        try {
            return MessageDigest.getInstance("SHA-256");
        }
        catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java platform has SHA-256", e);
        }
    }

    /**
     * Reads 16 bytes in big-endian order.
     */
    public static Digest128 fromBytes(byte[] bytes, int offset)
    {
        checkFromIndexSize(offset, BYTES, bytes.length);
        ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, BYTES);
        return new Digest128(buffer.getLong(), buffer.getLong());
    }

    public static Digest128 fromHex(String hex)
    {
        byte[] bytes = HexFormat.of().parseHex(hex);
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a 128-bit digest has 32 hexadecimal digits: " + hex);
        }
        return fromBytes(bytes, 0);
    }

    public String toHex()
    {
        HexFormat format = HexFormat.of();
        return format.toHexDigits(high) + format.toHexDigits(low);
    }

    @Override
    public int compareTo(Digest128 other)
    {
        int result = Long.compareUnsigned(high, other.high);
        return result != 0 ? result : Long.compareUnsigned(low, other.low);
    }

    @Override
    public String toString()
    {
        return toHex();
    }
}
