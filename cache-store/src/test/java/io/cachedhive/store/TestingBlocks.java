package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.testing.Await;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;

/**
 * Files and blocks whose bytes carry their identity: no two blocks, and no block of two ETags, agree in eight bytes at any place.
 */
final class TestingBlocks
{
    static final OriginId ORIGIN = new OriginId(new Digest128(1, 2));

    private static final Duration PAUSE = Duration.ofNanos(100_000);

    private TestingBlocks() {}

    /**
     * Begins a fill as soon as there is a frame for it: frames rest a moment before they are given away.
     */
    static Fill awaitFrame(Await.Source<Fill> begin)
    {
        return Await.untilPresent("a frame", Await.DEADLINE, PAUSE, begin);
    }

    static FileVersion file(int number, long length)
    {
        return new FileVersion(ORIGIN, "s3://bucket/table/part-" + number, length, 1_700_000_000_000L + number);
    }

    static byte[] bytes(BlockKey key, long etagDigest, int length)
    {
        ByteBuffer buffer = ByteBuffer.allocate(Math.ceilDiv(length, 8) * 8).order(ByteOrder.LITTLE_ENDIAN);
        long seed = (key.high() * 0x9E3779B97F4A7C15L + key.low()) * 0xD1B54A32D192ED03L + etagDigest * 0x8CB92BA72F3D8DD7L;
        for (int i = 0; i < buffer.capacity(); i += 8) {
            buffer.putLong(i, seed + i * 0x632BE59BD9B4E019L);
        }
        byte[] bytes = new byte[length];
        buffer.get(0, bytes);
        return bytes;
    }

    static byte[] copy(ByteBuffer buffer)
    {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(buffer.position(), bytes);
        return bytes;
    }
}
