package io.cachedhive.store.ssd;

import io.cachedhive.protocol.file.Digest128;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.zip.CRC32C;

/**
 * A block as it lies on SSD. The input is a payload, and changes of what was written: pairs of a position and a value, and the checksum of the
 * trailer made right after them if the first byte says so. Whatever verifies is the block.
 */
public final class ExtentFuzzTarget
{
    private static final Digest128 DIGEST = new Digest128(0x0123456789ABCDEFL, 0x1122334455667788L);
    private static final Digest128 STORE = new Digest128(3, 4);
    private static final long SEQUENCE = 5L << 40;
    private static final long ETAG = 6;

    private ExtentFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] data)
    {
        if (data.length < 2) {
            return;
        }
        boolean repair = (data[0] & 1) != 0;
        int changes = data[1] & 7;
        ByteBuffer input = ByteBuffer.wrap(data, 2, data.length - 2);
        int[] positions = new int[changes];
        byte[] values = new byte[changes];
        for (int i = 0; i < changes && input.remaining() >= 3; i++) {
            positions[i] = Short.toUnsignedInt(input.getShort());
            values[i] = input.get();
        }
        byte[] payload = new byte[input.remaining()];
        input.get(payload);
        int bytes = Extent.units(payload.length) * Geometry.UNIT_BYTES;
        ByteBuffer extent = ByteBuffer.allocate(bytes);
        extent.put(0, payload);
        ByteBuffer tail = extent.slice(Extent.wholeUnitsBytes(payload.length), Extent.tailBytes(payload.length));
        Extent.writeTail(tail, MemorySegment.ofArray(payload), DIGEST, SEQUENCE, ETAG, checksum(payload), STORE);
        byte[] before = extent.array().clone();
        if (!verify(extent, payload.length)) {
            throw new AssertionError("what was written does not verify");
        }
        for (int i = 0; i < changes; i++) {
            extent.put(positions[i] % bytes, values[i]);
        }
        if (repair) {
            // it may be made what another block would look like: then only no exception may escape
            int trailer = bytes - Extent.TRAILER_BYTES;
            CRC32C checksum = new CRC32C();
            checksum.update(extent.slice(trailer, Extent.TRAILER_BYTES - 4));
            extent.putInt(bytes - 4, (int) checksum.getValue());
            verify(extent, payload.length);
            Extent.hasTrailer(extent, STORE);
            return;
        }
        if (verify(extent, payload.length)) {
            for (int i = 0; i < payload.length; i++) {
                // other bytes may have the same checksum: of four thousand million one has
                if (extent.get(i) != before[i] && checksum(Arrays.copyOf(extent.array(), payload.length)) != checksum(payload)) {
                    throw new AssertionError("byte %s is wrong, and the block verifies".formatted(i));
                }
            }
        }
        // as a reader with another block in mind sees it
        if (Extent.verify(extent, DIGEST, SEQUENCE + 1, ETAG, payload.length, STORE)
                || Extent.verify(extent, DIGEST, SEQUENCE, ETAG + 1, payload.length, STORE)
                || Extent.verify(extent, DIGEST, SEQUENCE, ETAG, payload.length + 1, STORE)
                || Extent.verify(extent, new Digest128(1, 1), SEQUENCE, ETAG, payload.length, STORE)
                || Extent.verify(extent, DIGEST, SEQUENCE, ETAG, payload.length, new Digest128(1, 1))) {
            throw new AssertionError("another block verifies");
        }
    }

    private static boolean verify(ByteBuffer extent, int length)
    {
        boolean verified = Extent.verify(extent, DIGEST, SEQUENCE, ETAG, length, STORE);
        // payload and tail apart, as they are read into a frame
        byte[] payload = new byte[length];
        extent.get(0, payload);
        int start = Extent.wholeUnitsBytes(length);
        OptionalInt expected = Extent.verifyTail(extent.slice(start, Extent.tailBytes(length)), DIGEST, SEQUENCE, ETAG, length, STORE);
        if (verified != (expected.isPresent() && expected.getAsInt() == checksum(payload))) {
            throw new AssertionError("an extent verifies, or does not, by whether it is read in parts");
        }
        return verified;
    }

    private static int checksum(byte[] bytes)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }
}
