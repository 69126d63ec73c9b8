package io.cachedhive.protocol.checksum;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32C;

import static io.cachedhive.protocol.checksum.PieceChecksums.PIECE_BYTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestPieceChecksums
{
    private static Random random()
    {
        long seed = Long.getLong("seed", System.nanoTime());
        System.out.println("seed " + seed);
        return new Random(seed);
    }

    private static int crc(byte[] bytes, int start, int end)
    {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes, start, end - start);
        return (int) checksum.getValue();
    }

    private static byte[] block(Random random)
    {
        // lengths around boundaries are more frequent than chance makes them
        int length = Math.max(1, random.nextInt(5) * PIECE_BYTES + (random.nextBoolean() ? random.nextInt(5) - 2 : random.nextInt(PIECE_BYTES)));
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static int place(Random random, int limit)
    {
        int place = random.nextBoolean() ? random.nextInt(limit) : random.nextInt(limit / PIECE_BYTES + 1) * PIECE_BYTES + random.nextInt(3) - 1;
        return Math.clamp(place, 0, limit - 1);
    }

    private static Optional<PieceChecksums> ofPart(byte[] bytes, PieceChecksums pieces, int offset, int length)
    {
        return MemoryChecksums.ofPart(MemorySegment.ofArray(bytes), pieces::value, offset, length);
    }

    @Test
    void testCombine()
    {
        Random random = random();
        for (int i = 0; i < 2000; i++) {
            byte[] bytes = new byte[random.nextInt(random.nextInt(100) == 0 ? 1 << 20 : 300) + 1];
            random.nextBytes(bytes);
            int middle = random.nextInt(bytes.length + 1);
            assertThat(Crc32c.combine(crc(bytes, 0, middle), crc(bytes, middle, bytes.length), bytes.length - middle)).isEqualTo(crc(bytes, 0, bytes.length));
        }
        assertThatThrownBy(() -> Crc32c.combine(1, 2, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void testChecksumsOfBlocksAndParts()
    {
        Random random = random();
        for (int i = 0; i < 500; i++) {
            byte[] bytes = block(random);
            PieceChecksums pieces = MemoryChecksums.compute(MemorySegment.ofArray(bytes));
            assertThat(pieces.whole()).isEqualTo(crc(bytes, 0, bytes.length));
            assertThat(ofPart(bytes, pieces, 0, bytes.length)).contains(pieces);

            int offset = place(random, bytes.length);
            int length = place(random, bytes.length - offset) + 1;
            PieceChecksums part = ofPart(bytes, pieces, offset, length).orElseThrow();
            assertThat(part.offset()).isEqualTo(offset);
            assertThat(part.length()).isEqualTo(length);
            int start = offset;
            for (int j = 0; j < part.count(); j++) {
                assertThat(part.value(j)).isEqualTo(crc(bytes, start, part.end(j)));
                start = part.end(j);
                assertThat(start % PIECE_BYTES == 0 || start == offset + length).isTrue();
            }
            assertThat(start).isEqualTo(offset + length);
            assertThat(part.whole()).isEqualTo(crc(bytes, offset, offset + length));
        }
    }

    /**
     * The sender of a part finds damage around it, and its receiver finds damage in it.
     */
    @Test
    void testEachFlippedBitIsFound()
    {
        Random random = random();
        for (int i = 0; i < 1000; i++) {
            byte[] bytes = block(random);
            PieceChecksums pieces = MemoryChecksums.compute(MemorySegment.ofArray(bytes));
            int offset = place(random, bytes.length);
            int length = place(random, bytes.length - offset) + 1;
            int flipped = place(random, bytes.length);
            bytes[flipped] ^= (byte) (1 << random.nextInt(8));

            int firstPiece = offset / PIECE_BYTES;
            int lastPiece = (offset + length - 1) / PIECE_BYTES;
            int piece = flipped / PIECE_BYTES;
            int pieceStart = piece * PIECE_BYTES;
            boolean touched = piece >= firstPiece && piece <= lastPiece;
            boolean whole = offset <= pieceStart && offset + length >= Math.min(bytes.length, pieceStart + PIECE_BYTES);
            Optional<PieceChecksums> part = ofPart(bytes, pieces, offset, length);
            assertThat(part.isEmpty()).as("%s of %s bytes at %s, flipped at %s", length, bytes.length, offset, flipped).isEqualTo(touched && !whole);
            part.ifPresent(checksums -> assertThat(isVerified(random, checksums, bytes, length)).isEqualTo(!touched));
        }
    }

    /**
     * In chunks as they come from a socket.
     */
    private static boolean isVerified(Random random, PieceChecksums checksums, byte[] bytes, int length)
    {
        PieceVerifier verifier = new PieceVerifier(checksums);
        ByteBuffer left = ByteBuffer.wrap(bytes, checksums.offset(), length);
        while (left.hasRemaining()) {
            ByteBuffer chunk = left.slice(left.position(), Math.min(left.remaining(), 1 + random.nextInt(2 * PIECE_BYTES)));
            verifier.update(chunk);
            assertThat(chunk.position()).isZero();
            left.position(left.position() + chunk.remaining());
        }
        return verifier.isVerified();
    }

    @Test
    void testFewerAndMoreBytesDoNotVerify()
    {
        Random random = random();
        byte[] bytes = new byte[2 * PIECE_BYTES + 100];
        random.nextBytes(bytes);
        PieceChecksums pieces = MemoryChecksums.compute(MemorySegment.ofArray(bytes));
        assertThat(isVerified(random, pieces, bytes, bytes.length)).isTrue();
        assertThat(isVerified(random, pieces, bytes, bytes.length - 1)).isFalse();
        assertThat(isVerified(random, pieces, bytes, PIECE_BYTES)).isFalse();
        assertThat(new PieceVerifier(pieces).isVerified()).isFalse();
        byte[] longer = new byte[bytes.length + 1];
        System.arraycopy(bytes, 0, longer, 0, bytes.length);
        assertThat(isVerified(random, pieces, longer, longer.length)).isFalse();
    }

    @Test
    void testRangesAreChecked()
    {
        assertThatThrownBy(() -> new PieceChecksums(0, PIECE_BYTES + 1, new int[1])).hasMessage("65537 bytes at 0 have 2 checksums instead of 1");
        assertThatThrownBy(() -> new PieceChecksums(-1, 1, new int[1])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PieceChecksums(0, -1, new int[0])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PieceChecksums(Integer.MAX_VALUE, 1, new int[1])).isInstanceOf(IllegalArgumentException.class);
        byte[] bytes = new byte[10];
        PieceChecksums pieces = MemoryChecksums.compute(MemorySegment.ofArray(bytes));
        assertThatThrownBy(() -> ofPart(bytes, pieces, 5, 6)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
