package io.cachedhive.store.disk;

import io.cachedhive.store.disk.Disk.Access;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import static io.cachedhive.store.disk.DiskFile.ALIGNMENT_BYTES;
import static org.assertj.core.api.Assertions.assertThat;

class TestLocalDisk
{
    private static final int UNITS = 5;

    @TempDir
    private Path directory;

    private final byte[] content = new byte[UNITS * ALIGNMENT_BYTES];

    private DiskFile open(Access access)
            throws IOException
    {
        new Random(483).nextBytes(content);
        Path file = directory.resolve("file");
        Files.write(file, content);
        return new LocalDisk().open(file, false, access);
    }

    @ParameterizedTest
    @EnumSource(Access.class)
    void readsIntoSeveralBuffers(Access access)
            throws IOException
    {
        try (DiskFile file = open(access)) {
            ByteBuffer first = aligned(3);
            ByteBuffer second = aligned(1);
            assertThat(file.read(ALIGNMENT_BYTES, List.of(first, second))).isEqualTo(4 * ALIGNMENT_BYTES);
            assertThat(bytes(first)).isEqualTo(range(1, 4));
            assertThat(bytes(second)).isEqualTo(range(4, 5));
        }
    }

    @ParameterizedTest
    @EnumSource(Access.class)
    void readIntoSeveralBuffersEndsWithTheFile(Access access)
            throws IOException
    {
        try (DiskFile file = open(access)) {
            ByteBuffer first = aligned(1);
            ByteBuffer second = aligned(2);
            ByteBuffer third = aligned(1);
            assertThat(file.read(3 * ALIGNMENT_BYTES, List.of(first, second, third))).isEqualTo(2 * ALIGNMENT_BYTES);
            assertThat(bytes(first)).isEqualTo(range(3, 4));
            assertThat(bytes(second)).isEqualTo(range(4, 5));
            assertThat(third.position()).isZero();
        }
    }

    @Test
    void partsOfBuffersStayAsTheyWere()
            throws IOException
    {
        try (DiskFile file = open(Access.BUFFERED)) {
            ByteBuffer first = aligned(1).position(100).limit(200);
            ByteBuffer second = aligned(1).limit(50);
            assertThat(file.read(7, List.of(first, second))).isEqualTo(150);
            assertThat(first.slice(100, 100)).isEqualTo(ByteBuffer.wrap(content, 7, 100));
            assertThat(second.slice(0, 50)).isEqualTo(ByteBuffer.wrap(content, 107, 50));
            first.clear();
            assertThat(first.get(99)).isZero();
            assertThat(first.get(200)).isZero();
        }
    }

    private static ByteBuffer aligned(int units)
    {
        return ByteBuffer.allocateDirect((units + 1) * ALIGNMENT_BYTES).alignedSlice(ALIGNMENT_BYTES).slice(0, units * ALIGNMENT_BYTES);
    }

    private static byte[] bytes(ByteBuffer filled)
    {
        byte[] bytes = new byte[filled.position()];
        filled.get(0, bytes);
        return bytes;
    }

    private byte[] range(int firstUnit, int endUnit)
    {
        return Arrays.copyOfRange(content, firstUnit * ALIGNMENT_BYTES, endUnit * ALIGNMENT_BYTES);
    }
}
