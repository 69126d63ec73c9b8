package io.cachedhive.store.ram;

import io.cachedhive.protocol.file.Digest128;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.ring.CacheWorkerId;
import io.cachedhive.store.disk.MemoryAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

class TestHugePages
{
    private static final int BLOCK = 1 << 20;
    private static final long FILE_BYTES = 48L << 20;
    private static final int PAGE_BYTES = 4096;

    private Path directory;

    @BeforeEach
    void setup()
            throws IOException
    {
        directory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test");
    }

    @AfterEach
    void teardown()
            throws IOException
    {
        // the file goes with the store
        Files.delete(directory);
    }

    private MemoryFile create()
            throws Exception
    {
        MemoryLayout layout = MemoryLayout.forFileSize(FILE_BYTES, BLOCK);
        CacheWorkerId workerId = new CacheWorkerId("huge-pages");
        return MemoryFile.create(directory, layout, new Digest128(1, 2), workerId, Optional.empty(), MemoryAllocator.SYSTEM, LeftMemory.takeOver(directory, workerId));
    }

    private static boolean isSupported()
            throws IOException
    {
        String[] release = Files.readString(Path.of("/proc/sys/kernel/osrelease")).split("[.-]");
        int version = 1000 * Integer.parseInt(release[0]) + Integer.parseInt(release[1]);
        Path setting = Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
        return version >= 6001 && Files.exists(setting) && !Files.readString(setting).contains("[deny]");
    }

    @Test
    void testReadersAndTheWriterGoOnMeanwhile()
            throws Exception
    {
        try (MemoryFile file = create(); FileChannel channel = FileChannel.open(file.path())) {
            MemorySegment memory = file.memory();
            long start = MemoryLayout.headerBytes();
            long end = memory.byteSize();
            for (long at = start; at < end; at += PAGE_BYTES) {
                memory.set(JAVA_LONG, at, value(at, 0));
            }
            MemorySegment readers = channel.map(FileChannel.MapMode.READ_ONLY, 0, end, Arena.ofAuto());
            AtomicBoolean done = new AtomicBoolean();
            CompletableFuture<Long> wrong = CompletableFuture.supplyAsync(() -> {
                long count = 0;
                while (!done.get()) {
                    for (long at = start; at < end; at += 2 * PAGE_BYTES) {
                        count += readers.get(JAVA_LONG, at) == value(at, 0) ? 0 : 1;
                    }
                }
                return count;
            });
            file.grow(Thread.ofPlatform().factory(), () -> {});
            // every other page is written
            for (int round = 1; round <= 20; round++) {
                for (long at = start + PAGE_BYTES; at < end; at += 2 * PAGE_BYTES) {
                    memory.set(JAVA_LONG, at, value(at, round));
                }
            }
            file.growth().await();
            done.set(true);

            assertThat(wrong.get()).isZero();
            for (long at = start; at < end; at += PAGE_BYTES) {
                assertThat(readers.get(JAVA_LONG, at)).isEqualTo(value(at, (at - start) / PAGE_BYTES % 2 == 0 ? 0 : 20));
            }
            assertThat(file.growth().hugePages().collapsedBytes()).isBetween(0L, end);
        }
    }

    @Test
    void testUsesHugePages()
            throws Exception
    {
        assumeThat(isSupported()).as("Linux 6.1 or newer that does not deny huge pages to tmpfs").isTrue();
        try (MemoryFile file = create()) {
            file.grow(Thread.ofPlatform().factory(), () -> {});
            file.growth().await();
            assertThat(file.growth().hugePages().collapsedBytes()).isPositive();
            // no more memory than before
            assertThat(allocatedBytes(file.path())).isEqualTo(file.memory().byteSize());
        }
    }

    @Test
    void testStopsInTheMiddle()
            throws Exception
    {
        try (MemoryFile file = create()) {
            file.grow(Thread.ofPlatform().factory(), () -> {});
        }
        // the file gave its memory back and is gone
        try (var files = Files.list(directory)) {
            assertThat(files).isEmpty();
        }
    }

    private static long allocatedBytes(Path file)
            throws IOException
    {
        Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
        return 512 * Long.parseLong(new String(stat.getInputStream().readAllBytes(), US_ASCII).strip());
    }

    private static long value(long position, int round)
    {
        return position * 31 + round;
    }
}
