package io.cachedhive.protocol.security;

import javax.crypto.KDF;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

import java.security.GeneralSecurityException;
import java.util.HexFormat;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

/**
 * Derives one key per purpose from the shared secret, so that a proof for one purpose has no value for another.
 * The derivation is HKDF (RFC 5869) with SHA-256: the salt is {@code cachedhive-1}, the input key material is the
 * secret in UTF-8, and the info is the purpose.
 */
public final class SecretKeys
{
    private static final byte[] SALT = "cachedhive-1".getBytes(US_ASCII);
    private static final int KEY_BYTES = 32;
    private static final int FINGERPRINT_BYTES = 8;

    /**
     * What a key signs.
     */
    public enum Purpose
    {
        /** The handshake of the block protocol. */
        HANDSHAKE("handshake"),
        /** Requests to the HTTP API of a cache worker. */
        HTTP_REQUEST("http-request"),
        /** The fingerprint that a status shows. */
        FINGERPRINT("fingerprint");

        private final String info;

        Purpose(String info)
        {
            this.info = info;
        }
    }

    private SecretKeys() {}

    /**
     * Derives the key for a purpose.
     *
     * @return a key of 256 bits for HMAC-SHA256
     */
    public static SecretKey derive(String secret, Purpose purpose)
    {
        requireNonNull(secret, "secret is null");
        try {
            return KDF.getInstance("HKDF-SHA256").deriveKey("HmacSHA256", HKDFParameterSpec.ofExtract()
                    .addSalt(SALT)
                    .addIKM(secret.getBytes(UTF_8))
                    .thenExpand(purpose.info.getBytes(US_ASCII), KEY_BYTES));
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK 25 has HKDF-SHA256", e);
        }
    }

    /**
     * Returns a name for a secret that reveals nothing of it: 16 hexadecimal digits of a key that signs nothing. Equal
     * fingerprints mean equal secrets.
     */
    public static String fingerprint(String secret)
    {
        return HexFormat.of().formatHex(derive(secret, Purpose.FINGERPRINT).getEncoded(), 0, FINGERPRINT_BYTES);
    }

    /**
     * Returns an HMAC-SHA256 that is ready for the message.
     */
    public static Mac mac(SecretKey key)
    {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            return mac;
        }
        catch (GeneralSecurityException e) {
            throw new AssertionError("every Java platform has HmacSHA256", e);
        }
    }
}
