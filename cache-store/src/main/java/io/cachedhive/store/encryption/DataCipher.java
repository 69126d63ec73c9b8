package io.cachedhive.store.encryption;

import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;

/**
 * Encrypts and authenticates data with XAES-256-GCM (C2SP), the construction of AES-256-GCM with nonces of 192 bits:
 * the key and the first half of the nonce derive the key of a message by CMAC (NIST SP 800-108), and the second half is
 * the nonce of GCM. Random nonces of this length do not repeat, whatever was lost in a crash, so that no counter has to
 * survive one. Thread-safe.
 *
 * <p>Data is bound to its place by associated data, which both sides know: data from another place does not open.
 */
public final class DataCipher
{
    public static final int NONCE_BYTES = 24;
    public static final int TAG_BYTES = 16;

    /**
     * The bytes that {@link #seal} adds.
     */
    public static final int OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

    private static final int BLOCK_BYTES = 16;
    private static final int GCM_NONCE_BYTES = 12;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final ThreadLocal<Ciphers> CIPHERS = ThreadLocal.withInitial(Ciphers::create);

    private final SecretKeySpec key;
    // the first subkey of CMAC
    private final byte[] subkey;

    /**
     * Data that the key did not encrypt, or not for this place.
     */
    public static final class UnauthenticException
            extends IOException
    {
        UnauthenticException(Throwable cause)
        {
            super("it was changed, or encrypted with another key or for another place", cause);
        }
    }

    private record Ciphers(Cipher gcm, Cipher block)
    {
        static Ciphers create()
        {
            try {
                return new Ciphers(Cipher.getInstance("AES/GCM/NoPadding"), Cipher.getInstance("AES/CBC/NoPadding"));
            }
            catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    DataCipher(byte[] key)
    {
        if (key.length != OperatorKey.BYTES) {
            throw new IllegalArgumentException("key does not have 32 bytes: " + key.length);
        }
        this.key = new SecretKeySpec(key, "AES");
        this.subkey = doubled(encryptBlock(new byte[BLOCK_BYTES]));
    }

    static byte[] randomBytes(int count)
    {
        byte[] bytes = new byte[count];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    /**
     * Returns a random nonce.
     */
    public static byte[] newNonce()
    {
        return randomBytes(NONCE_BYTES);
    }

    private static byte[] doubled(byte[] value)
    {
        byte[] result = new byte[BLOCK_BYTES];
        for (int i = 0; i < BLOCK_BYTES; i++) {
            int low = i + 1 < BLOCK_BYTES ? (value[i + 1] & 0xFF) >>> 7 : 0;
            result[i] = (byte) ((value[i] << 1) | low);
        }
        if (value[0] < 0) {
            result[BLOCK_BYTES - 1] ^= (byte) 0x87;
        }
        return result;
    }

    private byte[] encryptBlock(byte[] block)
    {
        try {
            Cipher cipher = CIPHERS.get().block();
            cipher.init(Cipher.ENCRYPT_MODE, key, new IvParameterSpec(new byte[BLOCK_BYTES]));
            return cipher.doFinal(block);
        }
        catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private SecretKeySpec messageKey(byte[] nonce)
    {
        // two blocks, each the CMAC of a counter and the first half of the nonce
        byte[] blocks = new byte[2 * BLOCK_BYTES];
        for (int counter = 1; counter <= 2; counter++) {
            byte[] message = new byte[BLOCK_BYTES];
            message[1] = (byte) counter;
            message[2] = 'X';
            System.arraycopy(nonce, 0, message, BLOCK_BYTES - GCM_NONCE_BYTES, GCM_NONCE_BYTES);
            for (int i = 0; i < BLOCK_BYTES; i++) {
                message[i] ^= subkey[i];
            }
            System.arraycopy(encryptBlock(message), 0, blocks, (counter - 1) * BLOCK_BYTES, BLOCK_BYTES);
        }
        SecretKeySpec derived = new SecretKeySpec(blocks, "AES");
        Arrays.fill(blocks, (byte) 0);
        return derived;
    }

    private Cipher cipher(int mode, byte[] nonce, byte[] associatedData)
            throws GeneralSecurityException
    {
        Cipher cipher = CIPHERS.get().gcm();
        cipher.init(mode, messageKey(nonce), new GCMParameterSpec(8 * TAG_BYTES, nonce, NONCE_BYTES - GCM_NONCE_BYTES, GCM_NONCE_BYTES));
        cipher.updateAAD(associatedData);
        return cipher;
    }

    /**
     * Encrypts the remaining bytes, and appends the tag.
     *
     * @param nonce from {@link #newNonce}, used once
     * @param target has room for the bytes and the tag
     */
    public void encrypt(byte[] nonce, byte[] associatedData, ByteBuffer plain, ByteBuffer target)
    {
        try {
            cipher(Cipher.ENCRYPT_MODE, nonce, associatedData).doFinal(plain, target);
        }
        catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Decrypts the remaining bytes, which end with the tag.
     *
     * @param target has room for the bytes without the tag; undefined if this fails
     * @throws UnauthenticException if they were not encrypted with this key, nonce and associated data
     */
    public void decrypt(byte[] nonce, byte[] associatedData, ByteBuffer encrypted, ByteBuffer target)
            throws UnauthenticException
    {
        try {
            cipher(Cipher.DECRYPT_MODE, nonce, associatedData).doFinal(encrypted, target);
        }
        catch (AEADBadTagException e) {
            throw new UnauthenticException(e);
        }
        catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Encrypts the remaining bytes: a new nonce, the encrypted bytes, and the tag.
     *
     * @param target has room for {@link #OVERHEAD_BYTES} more
     */
    public void seal(byte[] associatedData, ByteBuffer plain, ByteBuffer target)
    {
        byte[] nonce = newNonce();
        target.put(nonce);
        encrypt(nonce, associatedData, plain, target);
    }

    /**
     * Decrypts the remaining bytes, as {@link #seal} wrote them.
     *
     * @param target has room for the bytes without the overhead; undefined if this fails
     * @throws UnauthenticException if they were not sealed with this key and associated data
     */
    public void open(byte[] associatedData, ByteBuffer sealed, ByteBuffer target)
            throws UnauthenticException
    {
        if (sealed.remaining() < OVERHEAD_BYTES) {
            throw new UnauthenticException(null);
        }
        byte[] nonce = new byte[NONCE_BYTES];
        sealed.get(nonce);
        decrypt(nonce, associatedData, sealed, target);
    }

    public byte[] seal(byte[] associatedData, byte[] plain)
    {
        byte[] sealed = new byte[plain.length + OVERHEAD_BYTES];
        seal(associatedData, ByteBuffer.wrap(plain), ByteBuffer.wrap(sealed));
        return sealed;
    }

    /**
     * @throws UnauthenticException if the bytes were not sealed with this key and associated data
     */
    public byte[] open(byte[] associatedData, byte[] sealed)
            throws UnauthenticException
    {
        byte[] plain = new byte[Math.max(0, sealed.length - OVERHEAD_BYTES)];
        open(associatedData, ByteBuffer.wrap(sealed), ByteBuffer.wrap(plain));
        return plain;
    }
}
