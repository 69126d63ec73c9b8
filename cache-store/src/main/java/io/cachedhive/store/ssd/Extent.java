package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalInt;
import java.util.zip.CRC32C;

/**
 * The layout of a block on SSD: its payload, zeros, and a trailer in the last 64 bytes of the last 4 KiB unit. The
 * trailer is at the end, so that the payload is aligned for O_DIRECT and most blocks need no extra unit.
 *
 * <pre>
 *   0               length                         units * 4096 - 64
 *   +----------------+-----------------------------+----------------------+
 *   | payload        | zeros                       | trailer              |
 *   +----------------+-----------------------------+----------------------+
 *
 *   trailer    0 magic and version     8 digest high          16 digest low          24 write sequence
 *             32 ETag digest          40 length               44 CRC32C of the payload
 *             48 store id (its first half)                    56 zero                60 CRC32C of the 60 bytes before
 * </pre>
 *
 * <p>The trailer's checksum covers the payload's checksum, so it protects digest, sequence, length, ETag and payload. A
 * stale index entry finds another digest or sequence here, in any order of writes and syncs, and the read is a miss.
 */
final class Extent
{
    static final int TRAILER_BYTES = 64;
    static final int MAX_TAIL_BYTES = 2 * Geometry.UNIT_BYTES;

    private static final long MAGIC = 0x01_54_58_45_56_49_48_43L; // "CHIVEXT", version 1

    private static final int MAGIC_OFFSET = 0;
    private static final int DIGEST_HIGH_OFFSET = MAGIC_OFFSET + 8;
    private static final int DIGEST_LOW_OFFSET = DIGEST_HIGH_OFFSET + 8;
    private static final int SEQUENCE_OFFSET = DIGEST_LOW_OFFSET + 8;
    private static final int ETAG_OFFSET = SEQUENCE_OFFSET + 8;
    private static final int LENGTH_OFFSET = ETAG_OFFSET + 8;
    private static final int PAYLOAD_CHECKSUM_OFFSET = LENGTH_OFFSET + 4;
    private static final int STORE_OFFSET = PAYLOAD_CHECKSUM_OFFSET + 4;
    private static final int TRAILER_CHECKSUM_OFFSET = TRAILER_BYTES - 4;

    private Extent() {}

    /**
     * Returns the number of units for a block of this length.
     */
    static int units(int length)
    {
        return Math.ceilDiv(length + TRAILER_BYTES, Geometry.UNIT_BYTES);
    }

    /**
     * Writes the tail of the extent of a block.
     *
     * @param tail limited to the tail on return
     */
    static void writeTail(ByteBuffer tail, MemorySegment payload, Digest128 digest, long sequence, long etagDigest, int payloadChecksum, Digest128 storeId)
    {
        int length = Math.toIntExact(payload.byteSize());
        int wholeUnitsBytes = wholeUnitsBytes(length);
        tail.clear().limit(tailBytes(length)).order(ByteOrder.LITTLE_ENDIAN);
        MemorySegment.ofBuffer(tail).fill((byte) 0).copyFrom(payload.asSlice(wholeUnitsBytes));
        int trailer = tailBytes(length) - TRAILER_BYTES;
        tail.putLong(trailer + MAGIC_OFFSET, MAGIC);
        tail.putLong(trailer + DIGEST_HIGH_OFFSET, digest.high());
        tail.putLong(trailer + DIGEST_LOW_OFFSET, digest.low());
        tail.putLong(trailer + SEQUENCE_OFFSET, sequence);
        tail.putLong(trailer + ETAG_OFFSET, etagDigest);
        tail.putInt(trailer + LENGTH_OFFSET, length);
        tail.putInt(trailer + PAYLOAD_CHECKSUM_OFFSET, payloadChecksum);
        tail.putLong(trailer + STORE_OFFSET, storeId.high());
        tail.putInt(trailer + TRAILER_CHECKSUM_OFFSET, checksum(tail, trailer, TRAILER_CHECKSUM_OFFSET));
    }

    /**
     * Returns whether the buffer has exactly this block.
     *
     * @param buffer the bytes read, in memory of this process, never in a mapping
     */
    static boolean verify(ByteBuffer buffer, Digest128 digest, long sequence, long etagDigest, int length, Digest128 storeId)
    {
        int bytes = units(length) * Geometry.UNIT_BYTES;
        if (buffer.limit() < bytes) {
            return false;
        }
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        int trailer = bytes - TRAILER_BYTES;
        return verifyTrailer(buffer, trailer, digest, sequence, etagDigest, length, storeId)
                && buffer.getInt(trailer + PAYLOAD_CHECKSUM_OFFSET) == checksum(buffer, 0, length);
    }

    /**
     * Returns the payload bytes in full units, which O_DIRECT can transfer directly between the frame and the disk. The
     * tail follows: the rest of the payload, zeros and the trailer, in one or two units.
     */
    static int wholeUnitsBytes(int length)
    {
        return length / Geometry.UNIT_BYTES * Geometry.UNIT_BYTES;
    }

    static int tailBytes(int length)
    {
        return units(length) * Geometry.UNIT_BYTES - wholeUnitsBytes(length);
    }

    /**
     * Verifies the tail of an extent for a block, except the payload.
     *
     * @return the CRC32C that the payload must have; empty if the tail belongs to another block
     */
    static OptionalInt verifyTail(ByteBuffer tail, Digest128 digest, long sequence, long etagDigest, int length, Digest128 storeId)
    {
        if (tail.limit() < tailBytes(length)) {
            return OptionalInt.empty();
        }
        tail.order(ByteOrder.LITTLE_ENDIAN);
        int trailer = tailBytes(length) - TRAILER_BYTES;
        return verifyTrailer(tail, trailer, digest, sequence, etagDigest, length, storeId) ?
                OptionalInt.of(tail.getInt(trailer + PAYLOAD_CHECKSUM_OFFSET)) :
                OptionalInt.empty();
    }

    private static boolean verifyTrailer(ByteBuffer buffer, int trailer, Digest128 digest, long sequence, long etagDigest, int length, Digest128 storeId)
    {
        return buffer.getLong(trailer + MAGIC_OFFSET) == MAGIC
                && buffer.getInt(trailer + TRAILER_CHECKSUM_OFFSET) == checksum(buffer, trailer, TRAILER_CHECKSUM_OFFSET)
                && buffer.getLong(trailer + DIGEST_HIGH_OFFSET) == digest.high()
                && buffer.getLong(trailer + DIGEST_LOW_OFFSET) == digest.low()
                && buffer.getLong(trailer + SEQUENCE_OFFSET) == sequence
                && buffer.getLong(trailer + ETAG_OFFSET) == etagDigest
                && buffer.getInt(trailer + LENGTH_OFFSET) == length
                && buffer.getLong(trailer + STORE_OFFSET) == storeId.high();
    }

    /**
     * Returns whether the extent has a trailer of any block of this store, possibly another block than the expected
     * one.
     *
     * @param buffer the whole extent
     */
    static boolean hasTrailer(ByteBuffer buffer, Digest128 storeId)
    {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        for (int end = Geometry.UNIT_BYTES; end <= buffer.limit(); end += Geometry.UNIT_BYTES) {
            int trailer = end - TRAILER_BYTES;
            if (buffer.getLong(trailer + MAGIC_OFFSET) == MAGIC
                    && buffer.getLong(trailer + STORE_OFFSET) == storeId.high()
                    && buffer.getInt(trailer + TRAILER_CHECKSUM_OFFSET) == checksum(buffer, trailer, TRAILER_CHECKSUM_OFFSET)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether the trailer names this write of this block. Ignores the payload.
     */
    static boolean isTrailerOf(ByteBuffer buffer, Digest128 digest, long sequence, int length)
    {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        int trailer = units(length) * Geometry.UNIT_BYTES - TRAILER_BYTES;
        return buffer.getLong(trailer + DIGEST_HIGH_OFFSET) == digest.high()
                && buffer.getLong(trailer + DIGEST_LOW_OFFSET) == digest.low()
                && buffer.getLong(trailer + SEQUENCE_OFFSET) == sequence;
    }

    private static int checksum(ByteBuffer buffer, int offset, int length)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(buffer.slice(offset, length));
        return (int) checksum.getValue();
    }
}
