package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.store.encryption.DataCipher;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The layout of an extent in an encrypted directory. It has the units of an {@link Extent} for the same block, and its
 * payload is encrypted.
 *
 * <pre>
 *   trailer    0 magic and version      8 nonce (24)     32 tag (16)      48 write sequence
 *             56 store id (its first quarter)            60 CRC32C of the 60 bytes before
 * </pre>
 *
 * <p>The tag authenticates the payload together with the block's digest, the write sequence, the ETag, the length and
 * the store. A stale index entry therefore finds nothing that it can decrypt, in any order of writes and syncs.
 */
final class EncryptedExtent
{
    private static final long MAGIC = 0x01_43_4E_45_58_45_48_43L; // "CHEXENC", version 1

    private static final int NONCE_OFFSET = 8;
    private static final int TAG_OFFSET = NONCE_OFFSET + DataCipher.NONCE_BYTES;
    private static final int SEQUENCE_OFFSET = TAG_OFFSET + DataCipher.TAG_BYTES;
    private static final int STORE_OFFSET = SEQUENCE_OFFSET + 8;
    private static final int CHECKSUM_OFFSET = Extent.TRAILER_BYTES - 4;

    private EncryptedExtent() {}

    private static int trailer(int length)
    {
        return Extent.units(length) * Geometry.UNIT_BYTES - Extent.TRAILER_BYTES;
    }

    private static byte[] associatedData(Digest128 digest, long sequence, long etagDigest, int length, Digest128 storeId)
    {
        return ByteBuffer.allocate(Long.BYTES * 7 + Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(MAGIC)
                .putLong(digest.high())
                .putLong(digest.low())
                .putLong(sequence)
                .putLong(etagDigest)
                .putLong(storeId.high())
                .putLong(storeId.low())
                .putInt(length)
                .array();
    }

    /**
     * Encrypts a block into the memory of an extent.
     *
     * @param buffers the extent is in {@link ExtentBuffers#bytes}, limited to its length on return
     */
    static void write(ExtentBuffers buffers, DataCipher cipher, MemorySegment payload, Digest128 digest, long sequence, long etagDigest, Digest128 storeId)
    {
        int length = Math.toIntExact(payload.byteSize());
        int trailer = trailer(length);
        MemorySegment.copy(payload, 0, MemorySegment.ofArray(buffers.plain()), 0, length);
        byte[] nonce = DataCipher.newNonce();
        cipher.encrypt(
                nonce,
                associatedData(digest, sequence, etagDigest, length, storeId),
                ByteBuffer.wrap(buffers.plain(), 0, length),
                ByteBuffer.wrap(buffers.encrypted()));
        ByteBuffer bytes = buffers.bytes();
        bytes.clear().limit(trailer + Extent.TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        MemorySegment.ofBuffer(bytes).asSlice(length).fill((byte) 0);
        bytes.put(0, buffers.encrypted(), 0, length);
        bytes.putLong(trailer, MAGIC);
        bytes.put(trailer + NONCE_OFFSET, nonce);
        bytes.put(trailer + TAG_OFFSET, buffers.encrypted(), length, DataCipher.TAG_BYTES);
        bytes.putLong(trailer + SEQUENCE_OFFSET, sequence);
        bytes.putInt(trailer + STORE_OFFSET, (int) storeId.high());
        bytes.putInt(trailer + CHECKSUM_OFFSET, checksum(bytes, trailer));
    }

    /**
     * Decrypts an extent into {@link ExtentBuffers#plain}.
     *
     * @param buffers has the bytes read in {@link ExtentBuffers#bytes}
     * @return false if the extent does not have exactly this block
     */
    static boolean read(ExtentBuffers buffers, DataCipher cipher, Digest128 digest, long sequence, long etagDigest, int length, Digest128 storeId)
    {
        ByteBuffer bytes = buffers.bytes();
        int trailer = trailer(length);
        if (!isTrailer(bytes, trailer, storeId)) {
            return false;
        }
        byte[] nonce = new byte[DataCipher.NONCE_BYTES];
        bytes.get(trailer + NONCE_OFFSET, nonce);
        bytes.get(0, buffers.encrypted(), 0, length);
        bytes.get(trailer + TAG_OFFSET, buffers.encrypted(), length, DataCipher.TAG_BYTES);
        try {
            cipher.decrypt(
                    nonce,
                    associatedData(digest, sequence, etagDigest, length, storeId),
                    ByteBuffer.wrap(buffers.encrypted(), 0, length + DataCipher.TAG_BYTES),
                    ByteBuffer.wrap(buffers.plain()));
            return true;
        }
        catch (DataCipher.UnauthenticException e) {
            // another write, or damage
            return false;
        }
    }

    /**
     * Returns whether the extent has a trailer of any block of this store, possibly another block than the expected
     * one.
     *
     * @param bytes the whole extent
     */
    static boolean hasTrailer(ByteBuffer bytes, Digest128 storeId)
    {
        for (int end = Geometry.UNIT_BYTES; end <= bytes.limit(); end += Geometry.UNIT_BYTES) {
            if (isTrailer(bytes, end - Extent.TRAILER_BYTES, storeId)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isTrailer(ByteBuffer bytes, int trailer, Digest128 storeId)
    {
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        return bytes.limit() >= trailer + Extent.TRAILER_BYTES
                && bytes.getLong(trailer) == MAGIC
                && bytes.getInt(trailer + STORE_OFFSET) == (int) storeId.high()
                && bytes.getInt(trailer + CHECKSUM_OFFSET) == checksum(bytes, trailer);
    }

    /**
     * Returns whether the trailer names this write. Ignores the payload.
     */
    static boolean isTrailerOf(ByteBuffer bytes, long sequence, int length)
    {
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        return bytes.getLong(trailer(length) + SEQUENCE_OFFSET) == sequence;
    }

    private static int checksum(ByteBuffer bytes, int trailer)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes.slice(trailer, CHECKSUM_OFFSET));
        return (int) checksum.getValue();
    }
}
