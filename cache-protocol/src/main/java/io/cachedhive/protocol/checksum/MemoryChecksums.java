package io.cachedhive.protocol.checksum;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.zip.CRC32C;

import static io.cachedhive.protocol.checksum.PieceChecksums.PIECE_BYTES;
import static java.util.Objects.checkFromIndexSize;

/**
 * Computes checksums of mapped memory through copies on the heap. If the mapping becomes invalid, the checksum intrinsic
 * would crash the JVM, while a copy throws an error.
 */
public final class MemoryChecksums
{
    // small enough for a processor's cache
    private static final ThreadLocal<byte[]> SCRATCH = ThreadLocal.withInitial(() -> new byte[PIECE_BYTES]);

    private MemoryChecksums() {}

    /**
     * Computes the checksums of all pieces of a block.
     */
    public static PieceChecksums compute(MemorySegment block)
    {
        int length = Math.toIntExact(block.byteSize());
        int[] values = new int[PieceChecksums.count(0, length)];
        for (int piece = 0; piece < values.length; piece++) {
            values[piece] = crc32c(block, piece * PIECE_BYTES, Math.min(length, (piece + 1) * PIECE_BYTES));
        }
        return new PieceChecksums(0, length, values);
    }

    /**
     * Returns the checksums of a range of a block, from the checksums of the block's pieces. A part that is a whole
     * piece has the piece's checksum, and its bytes are not read. For the other parts, of which a range has at most two,
     * the piece is verified: the checksum of the part is one of the up to three that together must result in the
     * piece's. No byte is read twice, so the returned checksum is that of verified bytes.
     *
     * @param pieces returns the checksum of a piece of the block
     * @return empty if a piece does not match its checksum
     */
    public static Optional<PieceChecksums> ofPart(MemorySegment block, IntUnaryOperator pieces, int offset, int length)
    {
        int blockLength = Math.toIntExact(block.byteSize());
        checkFromIndexSize(offset, length, blockLength);
        int[] values = new int[PieceChecksums.count(offset, length)];
        int start = offset;
        for (int part = 0; part < values.length; part++) {
            int piece = start / PIECE_BYTES;
            int pieceStart = piece * PIECE_BYTES;
            int pieceEnd = Math.min(blockLength, pieceStart + PIECE_BYTES);
            int end = Math.min(offset + length, pieceEnd);
            int expected = pieces.applyAsInt(piece);
            if (start == pieceStart && end == pieceEnd) {
                values[part] = expected;
            }
            else {
                values[part] = crc32c(block, start, end);
                int whole = Crc32c.combine(crc32c(block, pieceStart, start), values[part], end - start);
                whole = Crc32c.combine(whole, crc32c(block, end, pieceEnd), pieceEnd - end);
                if (whole != expected) {
                    return Optional.empty();
                }
            }
            start = end;
        }
        return Optional.of(new PieceChecksums(offset, length, values));
    }

    /**
     * @param end at most the length of a piece after the start
     */
    private static int crc32c(MemorySegment memory, int start, int end)
    {
        if (start == end) {
            return 0;
        }
        byte[] scratch = SCRATCH.get();
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, start, scratch, 0, end - start);
        CRC32C checksum = new CRC32C();
        checksum.update(scratch, 0, end - start);
        return (int) checksum.getValue();
    }
}
