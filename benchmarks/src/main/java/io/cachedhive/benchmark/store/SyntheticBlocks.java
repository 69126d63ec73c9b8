package io.cachedhive.benchmark.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.FileVersionId;
import io.cachedhive.protocol.file.OriginId;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.UUID;

/**
 * Files as Trino writes them, and blocks whose bytes follow from their digests: both can be told at any time from their numbers alone.
 */
record SyntheticBlocks(int blocksPerFile)
{
    /// The smallest block that the store takes: what an index entry costs does not depend on the length.
    static final int BLOCK_BYTES = 64 << 10;
    static final String TABLE = "sales.store_sales";

    private static final OriginId ORIGIN = new OriginId(new Digest128(0x5A15, 0x57012E));

    FileVersion file(int number)
    {
        int partition = number / 64;
        String location = "s3://company-data-lake/warehouse/sales.db/store_sales/ds=2026-%02d-%02d/region=%s/20260101_120000_%05d_abcde_%s".formatted(
                1 + partition % 12,
                1 + partition % 28,
                partition,
                partition,
                new UUID(mix(2L * number), mix(2L * number + 1)));
        return new FileVersion(ORIGIN, location, (long) blocksPerFile * BLOCK_BYTES, 1_700_000_000_000L + number);
    }

    String etag(int number)
    {
        return "\"%s%s\"".formatted(HexFormat.of().toHexDigits(mix(-number)), HexFormat.of().toHexDigits(mix(~number)));
    }

    BlockKey block(FileVersionId file, long number)
    {
        return file.block((int) (number % blocksPerFile));
    }

    int fileNumber(long block)
    {
        return (int) (block / blocksPerFile);
    }

    static void write(long digestHigh, long digestLow, ByteBuffer target)
    {
        ByteBuffer buffer = target.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        long value = digestHigh ^ Long.rotateLeft(digestLow, 17);
        for (int i = buffer.position(); i + 8 <= buffer.limit(); i += 8) {
            buffer.putLong(i, value);
            value += 0x9E3779B97F4A7C15L;
        }
    }

    static boolean matches(long digestHigh, long digestLow, ByteBuffer found)
    {
        ByteBuffer expected = ByteBuffer.allocate(found.remaining());
        write(digestHigh, digestLow, expected);
        return found.equals(expected);
    }

    private static long mix(long value)
    {
        long z = (value + 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
