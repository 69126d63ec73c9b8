package io.cachedhive.protocol.memory;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.ring.CacheWorkerId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

import static io.cachedhive.protocol.memory.TestingMemory.INSTANCE;
import static io.cachedhive.protocol.memory.TestingMemory.WORKER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class TestMemoryLayout
{
    private static final Path FILE = Path.of("/somewhere/memory");

    @TempDir
    private Path directory;

    @Test
    void usesWhatItIsGiven()
    {
        for (int blockSizeBytes = 64 << 10; blockSizeBytes <= 8 << 20; blockSizeBytes *= 2) {
            long minimum = MemoryLayout.minFileSizeBytes(blockSizeBytes);
            assertThat(MemoryLayout.forFileSize(minimum, blockSizeBytes).fileSizeBytes()).isEqualTo(minimum);
            int size = blockSizeBytes;
            assertThatThrownBy(() -> MemoryLayout.forFileSize(minimum - 1, size))
                    .hasMessageContaining("at least " + minimum);

            for (long fileSizeBytes : new long[] {minimum + 1, 100 << 20, (1L << 30) + 12345, 100L << 30, 1L << 40}) {
                if (fileSizeBytes < minimum) {
                    continue;
                }
                MemoryLayout layout = MemoryLayout.forFileSize(fileSizeBytes, blockSizeBytes);
                assertThat(layout.fileSizeBytes()).isLessThanOrEqualTo(fileSizeBytes);
                // one slab more would not have fitted
                assertThat(layout.fileSizeBytes() + layout.slabBytes() + layout.slabBytes() / 32).isGreaterThan(fileSizeBytes);
                assertThat(layout.framesOffset() % MemoryLayout.UNIT_BYTES).isZero();
                assertThat(layout.headersOffset() % MemoryLayout.UNIT_BYTES).isZero();
                assertThat(layout.headersOffset()).isEqualTo(layout.indexOffset() + layout.bucketCount() * MemoryLayout.BUCKET_BYTES);
                assertThat(layout.framesOffset()).isGreaterThanOrEqualTo(layout.headersOffset() + layout.unitCount() * MemoryLayout.FRAME_HEADER_BYTES);
                assertThat(layout.fileSizeBytes()).isEqualTo(layout.framesOffset() + (long) layout.slabCount() * layout.slabBytes());
            }
        }
    }

    @Test
    void refusesOtherBlockSizes()
    {
        for (int blockSizeBytes : new int[] {0, -1, 32 << 10, 100_000, 16 << 20}) {
            assertThatThrownBy(() -> MemoryLayout.forFileSize(1L << 30, blockSizeBytes))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("block size is not a power of two from 65536 to 8388608: " + blockSizeBytes);
        }
    }

    @Test
    void headerComesBack()
            throws IOException
    {
        MemoryLayout layout = MemoryLayout.forFileSize(20 << 20, 1 << 20);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(layout.fileSizeBytes(), 4096);
            layout.format(memory, INSTANCE, WORKER);
            MemoryLayout read = MemoryLayout.validate(memory, FILE);
            assertThat(read.fileSizeBytes()).isEqualTo(layout.fileSizeBytes());
            assertThat(read.blockSizeBytes()).isEqualTo(1 << 20);
            assertThat(MemoryLayout.instance(memory)).isEqualTo(INSTANCE);
            assertThat(MemoryLayout.workerId(memory, FILE)).isEqualTo(WORKER);
            CacheWorkerId longest = new CacheWorkerId("x".repeat(64));
            layout.format(memory, new Digest128(0, 0), longest);
            MemoryLayout.validate(memory, FILE);
            assertThat(MemoryLayout.workerId(memory, FILE)).isEqualTo(longest);
        }
    }

    @Test
    void namesWhatIsWrong()
            throws IOException
    {
        assertRefused((memory, _) -> memory.set(MemoryLayout.LONG, MemoryLayout.MAGIC_OFFSET, 0), "magic number is not");
        assertRefused((memory, _) -> memory.set(MemoryLayout.INT, MemoryLayout.VERSION_OFFSET, 2), "layout version is not 1: 2");
        assertRefused((memory, _) -> memory.set(MemoryLayout.LONG, MemoryLayout.FRAMES_OFFSET_OFFSET, 0), "checksum of the header");
        assertRefused((memory, _) -> memory.set(MemoryLayout.INT, MemoryLayout.CHECKSUM_OFFSET, 0), "checksum of the header");

        MemoryLayout layout = MemoryLayout.forFileSize(20 << 20, 1 << 20);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(layout.fileSizeBytes(), 4096);
            layout.format(memory, INSTANCE, WORKER);
            assertThatThrownBy(() -> MemoryLayout.validate(memory.asSlice(0, layout.fileSizeBytes() - 4096), FILE))
                    .isInstanceOf(MemoryFormatException.class)
                    .hasMessage("shared-memory file /somewhere/memory: size of the mapped file is not %s: %s".formatted(layout.fileSizeBytes(), layout.fileSizeBytes() - 4096));
            assertThatThrownBy(() -> MemoryLayout.validate(memory.asSlice(0, 100), FILE))
                    .isInstanceOf(MemoryFormatException.class)
                    .hasMessageContaining("shorter than its header");
        }
    }

    @Test
    void everyFlippedByteOfTheHeaderIsSeen()
            throws IOException
    {
        MemoryLayout layout = MemoryLayout.forFileSize(20 << 20, 1 << 20);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(layout.fileSizeBytes(), 4096);
            layout.format(memory, INSTANCE, WORKER);
            for (int offset = 0; offset < MemoryLayout.CHECKSUM_OFFSET + 4; offset++) {
                boolean changing = (offset >= MemoryLayout.STATE_OFFSET && offset < MemoryLayout.INSTANCE_HIGH_OFFSET)
                        || (offset >= MemoryLayout.HEARTBEAT_OFFSET && offset < MemoryLayout.FILE_SIZE_OFFSET);
                byte old = memory.get(ValueLayout.JAVA_BYTE, offset);
                memory.set(ValueLayout.JAVA_BYTE, offset, (byte) (old ^ 0x40));
                if (changing) {
                    MemoryLayout.validate(memory, FILE);
                }
                else {
                    assertThatThrownBy(() -> MemoryLayout.validate(memory, FILE))
                            .describedAs("byte %s", offset)
                            .isInstanceOf(MemoryFormatException.class);
                }
                memory.set(ValueLayout.JAVA_BYTE, offset, old);
            }
        }
    }

    private void assertRefused(Damage damage, String message)
            throws IOException
    {
        Path file = directory.resolve("memory");
        try (TestingMemory memory = TestingMemory.create(file, 64 << 10)) {
            damage.apply(memory.memory(), memory.layout());
            assertThatThrownBy(() -> SharedMemoryReader.open(file))
                    .isInstanceOf(MemoryFormatException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining(message);
        }
    }

    private interface Damage
    {
        void apply(MemorySegment memory, MemoryLayout layout);
    }
}
