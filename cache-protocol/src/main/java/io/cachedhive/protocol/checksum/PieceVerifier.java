package io.cachedhive.protocol.checksum;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

import static java.util.Objects.requireNonNull;

/**
 * Verifies the bytes of a range against its checksums as they arrive. For one thread at a time.
 */
public final class PieceVerifier
{
    private final PieceChecksums expected;
    private final CRC32C checksum = new CRC32C();
    // in the block
    private int position;
    private int part;
    private boolean failed;

    public PieceVerifier(PieceChecksums expected)
    {
        this.expected = requireNonNull(expected, "expected is null");
        this.position = expected.offset();
    }

    /**
     * Adds the next bytes of the range.
     *
     * @param bytes not memory of a mapping, in which a fault would end the JVM; the position does not change
     */
    public void update(ByteBuffer bytes)
    {
        ByteBuffer left = bytes.duplicate();
        while (left.hasRemaining()) {
            if (part == expected.count()) {
                failed = true;
                return;
            }
            int end = expected.end(part);
            int count = Math.min(left.remaining(), end - position);
            checksum.update(left.slice(left.position(), count));
            left.position(left.position() + count);
            position += count;
            if (position == end) {
                failed |= (int) checksum.getValue() != expected.value(part);
                checksum.reset();
                part++;
            }
        }
    }

    /**
     * Returns whether all bytes of the range, and no others, were added and match their checksums.
     */
    public boolean isVerified()
    {
        return !failed && part == expected.count();
    }
}
