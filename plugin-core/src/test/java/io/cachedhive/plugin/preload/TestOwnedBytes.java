package io.cachedhive.plugin.preload;

import io.cachedhive.plugin.origin.FileOrigins.FileOrigin;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.file.OriginId;
import io.cachedhive.transport.CachedBlock;
import org.junit.jupiter.api.Test;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestOwnedBytes
{
    private static final int BLOCK = 10;
    private static final OriginId ORIGIN = OriginId.of("s3", Optional.empty(), Optional.empty());
    private static final byte[] BYTES = new byte[45];

    static {
        for (int i = 0; i < BYTES.length; i++) {
            BYTES[i] = (byte) i;
        }
    }

    private final PreloadFile file = new PreloadFile(
            new FileOrigin(0, ORIGIN),
            new FileVersion(ORIGIN, "s3://lake/file", BYTES.length, 1000),
            FileFormat.ORC,
            false,
            List.of());
    private final List<Long> asked = new ArrayList<>();
    private final OwnedBytes bytes = new OwnedBytes(file, (_, position) -> {
        asked.add(position);
        int start = (int) (position / BLOCK * BLOCK);
        return new CachedBlock(start, Arrays.copyOfRange(BYTES, start, Math.min(start + BLOCK, BYTES.length)));
    });

    private byte[] read(long position, int length)
            throws IOException
    {
        byte[] buffer = new byte[length + 2];
        bytes.readFully(position, buffer, 1, length);
        assertThat(buffer[0]).isZero();
        assertThat(buffer[length + 1]).isZero();
        return Arrays.copyOfRange(buffer, 1, length + 1);
    }

    @Test
    void testReadsOverBlocks()
            throws IOException
    {
        assertThat(read(35, 10)).isEqualTo(Arrays.copyOfRange(BYTES, 35, 45));
        assertThat(read(32, 5)).isEqualTo(Arrays.copyOfRange(BYTES, 32, 37));
        assertThat(read(8, 25)).isEqualTo(Arrays.copyOfRange(BYTES, 8, 33));
        // what was read lately is not asked for again
        assertThat(asked).containsExactly(35L, 40L, 8L, 10L, 20L, 30L);
        assertThat(bytes.read()).containsExactly(new ByteRange(35, 45), new ByteRange(32, 37), new ByteRange(8, 33));
    }

    @Test
    void testEndOfFile()
    {
        assertThatThrownBy(() -> read(40, 6)).isInstanceOf(EOFException.class).hasMessage("s3://lake/file has 45 bytes, and not 6 from 40");
        assertThatThrownBy(() -> read(-1, 1)).isInstanceOf(EOFException.class);
        assertThat(bytes.read()).isEmpty();
    }

    @Test
    void testWrongBlock()
    {
        OwnedBytes wrong = new OwnedBytes(file, (_, _) -> new CachedBlock(0, new byte[BLOCK]));
        assertThatThrownBy(() -> wrong.readFully(10, new byte[1], 0, 1)).isInstanceOf(IOException.class).hasMessageContaining("answered with another block");
    }
}
