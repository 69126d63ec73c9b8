package io.cachedhive.store.encryption;

import io.cachedhive.store.block.StoreException;

import java.util.Base64;
import java.util.HexFormat;

import static java.util.Objects.requireNonNull;

/**
 * The key of the operator, which protects the data keys of the directories. Has 256 bits.
 */
public final class OperatorKey
{
    static final int BYTES = 32;
    private static final int HEX_DIGITS = 2 * BYTES;

    private final byte[] bytes;

    private OperatorKey(byte[] bytes)
    {
        this.bytes = requireNonNull(bytes, "bytes is null");
    }

    /**
     * @param text 32 bytes in Base64, or 64 hexadecimal digits; white space around it is ignored
     * @param source where the text comes from, for the message
     * @throws StoreException if the text is something else
     */
    static OperatorKey parse(String text, String source)
            throws StoreException
    {
        String stripped = text.strip();
        byte[] bytes = {};
        try {
            bytes = stripped.length() == HEX_DIGITS ? HexFormat.of().parseHex(stripped) : Base64.getDecoder().decode(stripped);
        }
        catch (IllegalArgumentException e) {
            // neither; the message below must not repeat what may be a part of a key
        }
        if (bytes.length != BYTES) {
            throw new StoreException("%s does not contain a key of 32 bytes in Base64 or hexadecimal digits: create one with 'openssl rand -base64 32'".formatted(source));
        }
        return new OperatorKey(bytes);
    }

    DataCipher cipher()
    {
        return new DataCipher(bytes);
    }

    @Override
    public String toString()
    {
        return "OperatorKey";
    }
}
