package io.cachedhive.plugin.preload;

import com.google.common.collect.ImmutableList;
import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.ChunkKey;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;

class TestPreloadPiece
{
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.empty(), Optional.empty());
    private static final FileVersion FILE = new FileVersion(ORIGIN, "s3://lake/file", 250, 1000);
    private static final long HASH = ChunkKey.locationHash(ORIGIN, FILE.location());

    @Test
    void testCutsAtPiecesAndChunks()
    {
        assertThat(cut(range(0, 250))).containsExactly(
                piece(0, 0, 40),
                piece(0, 40, 40),
                piece(1, 80, 40),
                piece(1, 120, 40),
                piece(2, 160, 40),
                piece(2, 200, 40),
                piece(3, 240, 10));
    }

    @Test
    void testSmallChunks()
    {
        assertThat(ImmutableList.copyOf(PreloadPiece.cut(new FileOrigin(0, ORIGIN), FILE, List.of(new ByteRange(10, 70)), 30, 40))).containsExactly(
                piece(0, 10, 20),
                piece(1, 30, 10),
                piece(1, 40, 20),
                piece(2, 60, 10));
    }

    @Test
    void testRanges()
    {
        assertThat(cut(range(0, 60), range(100, 5), range(240, 100))).containsExactly(
                piece(0, 0, 40),
                piece(0, 40, 20),
                piece(1, 100, 5),
                piece(3, 240, 10));
    }

    @Test
    void testNothing()
    {
        assertThat(cut()).isEmpty();
        assertThat(cut(range(0, 0))).isEmpty();
    }

    private static List<PreloadPiece> cut(ByteRange... ranges)
    {
        return ImmutableList.copyOf(PreloadPiece.cut(new FileOrigin(0, ORIGIN), FILE, List.of(ranges), 80, 40));
    }

    private static PreloadPiece piece(long chunk, long position, long length)
    {
        return new PreloadPiece(new FileOrigin(0, ORIGIN), FILE, new ChunkKey(HASH, chunk), position, length);
    }

    private static ByteRange range(long start, long length)
    {
        return ByteRange.ofLength(start, length);
    }
}
