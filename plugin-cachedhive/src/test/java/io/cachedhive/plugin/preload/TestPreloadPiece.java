package io.cachedhive.plugin.preload;

import com.google.common.collect.ImmutableMap;
import io.cachedhive.plugin.filesystem.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.protocol.ring.ChunkKey;
import io.trino.plugin.hive.HiveSplit;
import io.trino.plugin.hive.Schema;
import io.trino.spi.SplitWeight;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

import static org.assertj.core.api.Assertions.assertThat;

class TestPreloadPiece
{
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.empty(), Optional.empty());
    private static final FileVersion FILE = new FileVersion(ORIGIN, "s3://lake/file", 250, 1000);
    private static final long HASH = ChunkKey.locationHash(ORIGIN, FILE.location());

    @Test
    void testCutsAtPiecesAndChunks()
    {
        assertThat(cut(split(0, 250))).containsExactly(
                piece(0, 0, 40),
                piece(0, 40, 40),
                piece(1, 80, 40),
                piece(1, 120, 40),
                piece(2, 160, 40),
                piece(2, 200, 40),
                piece(3, 240, 10));
    }

    @Test
    void testSplitsInAnyOrderAndOverlapping()
    {
        assertThat(cut(split(30, 30), split(0, 50), split(100, 5))).containsExactly(
                piece(0, 0, 40),
                piece(0, 40, 10),
                piece(0, 50, 10),
                piece(1, 100, 5));
    }

    @Test
    void testNothing()
    {
        assertThat(cut()).isEmpty();
        assertThat(cut(split(0, 0))).isEmpty();
    }

    private static List<PreloadPiece> cut(HiveSplit... splits)
    {
        return PreloadPiece.cut(new FileOrigin(0, ORIGIN), FILE, List.of(splits), 80, 40);
    }

    private static PreloadPiece piece(long chunk, long position, long length)
    {
        return new PreloadPiece(new FileOrigin(0, ORIGIN), FILE, new ChunkKey(HASH, chunk), position, length);
    }

    private static HiveSplit split(long start, long length)
    {
        return new HiveSplit(
                "",
                FILE.location(),
                start,
                length,
                FILE.length(),
                FILE.lastModifiedMillis(),
                new Schema("serde", false, ImmutableMap.of()),
                List.of(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                false,
                ImmutableMap.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                SplitWeight.standard());
    }
}
