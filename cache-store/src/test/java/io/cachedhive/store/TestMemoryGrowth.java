package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.protocol.memory.BlockInfo;
import io.cachedhive.protocol.memory.MemoryLayout;
import io.cachedhive.protocol.memory.MemoryState;
import io.cachedhive.protocol.memory.SharedMemoryReader;
import io.cachedhive.store.block.RecoveryFinding;
import io.cachedhive.store.block.RecoveryOutcome;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A RAM tier that is used before all of its memory is allocated.
 */
@Timeout(120)
class TestMemoryGrowth
{
    private static final int BLOCK = 64 << 10;
    private static final int RAM_BYTES = 6 << 20;
    private static final int FIRST_FRAMES = (int) SteppedMemory.FIRST_BYTES / BLOCK;
    private static final long ETAG = ETags.digest("etag");
    private static final MemoryLayout LAYOUT = MemoryLayout.forFileSize(RAM_BYTES, BLOCK);

    @TempDir
    private Path directory;
    private Path memoryDirectory;

    private final ManualClock clock = new ManualClock();
    private final SteppedMemory memory = new SteppedMemory();

    @BeforeEach
    void setUp()
            throws IOException
    {
        memoryDirectory = Files.createTempDirectory(Path.of("/dev/shm"), "cachedhive-test-");
    }

    @AfterEach
    void tearDown()
            throws IOException
    {
        for (Path file : files()) {
            Files.delete(file);
        }
        Files.delete(memoryDirectory);
    }

    private List<Path> files()
            throws IOException
    {
        try (Stream<Path> files = Files.list(memoryDirectory)) {
            return files.toList();
        }
    }

    private static StoreConfig config(Path directory, Path memoryDirectory)
    {
        return StoreConfig.ramOnly(directory.resolve("state")).withBlockSize(BLOCK).withRam(memoryDirectory, RAM_BYTES);
    }

    private BlockStore open()
            throws StoreException
    {
        return BlockStore.open(config(directory, memoryDirectory), StoreEnvironment.system().withClock(clock).withMemory(memory));
    }

    private static FileVersion file()
    {
        return TestingBlocks.file(1, 2000L * BLOCK);
    }

    private void fill(BlockStore store, int firstBlock, int endBlock)
    {
        for (int block = firstBlock; block < endBlock; block++) {
            clock.advance(Duration.ofMillis(101));
            fill(store, block);
            store.checkInvariants();
        }
    }

    private static void fill(BlockStore store, int block)
    {
        assertThat(store.bind(file(), Optional.of("etag"), false, "schema.table")).isTrue();
        BlockKey key = file().id().block(block);
        Fill fill = store.beginFill(key, BLOCK, ETAG).orElseThrow();
        fill.buffer().put(TestingBlocks.bytes(key, ETAG, BLOCK));
        fill.commit().orElseThrow().close();
    }

    private static int readable(SharedMemoryReader reader, int blocks)
    {
        int readable = 0;
        byte[] target = new byte[BLOCK];
        for (int block = 0; block < blocks; block++) {
            BlockKey key = file().id().block(block);
            if (reader.read(key.high(), key.low(), 0, target, 0, BLOCK, new BlockInfo()) != -1) {
                assertThat(target).isEqualTo(TestingBlocks.bytes(key, ETAG, BLOCK));
                readable++;
            }
        }
        return readable;
    }

    private static long allocatedBytes(int slabs)
    {
        return LAYOUT.headersOffset() + slabs * (LAYOUT.slabHeadersBytes() + LAYOUT.slabBytes());
    }

    /**
     * Nothing waits for a step, and no reader or filler touches a page that is not allocated: the kernel would allocate it, which its count of pages shows.
     */
    @Test
    void testServesWhileTheMemoryGrows()
            throws Exception
    {
        int firstSlabs = (int) (SteppedMemory.FIRST_BYTES / LAYOUT.slabBytes());
        int stepSlabs = (int) (SteppedMemory.STEP_BYTES / LAYOUT.slabBytes());
        try (BlockStore store = open(); memory; SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            memory.awaitHeld();
            assertThat(reader.state()).isEqualTo(MemoryState.LIVE);
            assertThat(Files.size(store.memoryFile())).isEqualTo(LAYOUT.fileSizeBytes());
            assertThat(store.gauges().ramCapacityBytes()).isEqualTo(LAYOUT.fileSizeBytes());
            assertThat(store.gauges().ramAllocatedBytes()).isEqualTo(allocatedBytes(firstSlabs));
            assertThat(HeldMemory.allocatedBytes(store.memoryFile())).isEqualTo(allocatedBytes(firstSlabs));

            // many times the blocks that fit
            fill(store, 0, 10 * FIRST_FRAMES);
            assertThat(readable(reader, 2000)).isBetween(FIRST_FRAMES / 2, FIRST_FRAMES);
            assertThat(store.gauges().ramEvictions()).isPositive();
            assertThat(store.problem()).isEmpty();
            memory.awaitHeld();
            assertThat(HeldMemory.allocatedBytes(store.memoryFile())).isEqualTo(allocatedBytes(firstSlabs));

            memory.step(store);
            assertThat(store.gauges().ramAllocatedBytes()).isEqualTo(allocatedBytes(firstSlabs + stepSlabs));
            fill(store, 500, 500 + 10 * FIRST_FRAMES);
            assertThat(readable(reader, 2000)).isBetween(FIRST_FRAMES, FIRST_FRAMES + stepSlabs * 4);
            memory.awaitHeld();
            // the headers of the next step wait for their permit, too
            assertThat(HeldMemory.allocatedBytes(store.memoryFile())).isEqualTo(allocatedBytes(firstSlabs + stepSlabs));

            memory.permitAll();
            Await.until("all memory is in use", () -> store.ram().frameBytes() == LAYOUT.slabCount() * LAYOUT.slabBytes());
            assertThat(store.gauges().ramAllocatedBytes()).isEqualTo(LAYOUT.fileSizeBytes());
            int frames = LAYOUT.slabCount() * 4;
            fill(store, 1000, 1000 + 5 * frames);
            assertThat(readable(reader, 2000)).isBetween(3 * frames / 4, frames);
            assertThat(HeldMemory.allocatedBytes(store.memoryFile())).isEqualTo(LAYOUT.fileSizeBytes());
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void testLimitsFollowTheAllocatedMemory()
            throws Exception
    {
        StoreConfig config = config(directory, memoryDirectory).withGuestMaxShare(0.5).withPinnedMaxShare(0.25);
        try (BlockStore store = BlockStore.open(config, StoreEnvironment.system().withClock(clock).withMemory(memory)); memory) {
            assertThat(store.ram().maxGuestBytes()).isEqualTo(SteppedMemory.FIRST_BYTES / 2);
            assertThat(store.gauges().pinnedMaxBytes()).isEqualTo(SteppedMemory.FIRST_BYTES / 4);
            memory.step(store);
            assertThat(store.ram().maxGuestBytes()).isEqualTo((SteppedMemory.FIRST_BYTES + SteppedMemory.STEP_BYTES) / 2);
            assertThat(store.gauges().pinnedMaxBytes()).isEqualTo((SteppedMemory.FIRST_BYTES + SteppedMemory.STEP_BYTES) / 4);
        }
    }

    @Test
    void testKeepsItsMemoryWhenThereIsNoMore()
            throws Exception
    {
        try (BlockStore store = open(); memory; SharedMemoryReader reader = SharedMemoryReader.open(store.memoryFile())) {
            memory.step(store);
            long allocated = store.gauges().ramAllocatedBytes();
            memory.awaitHeld();
            memory.setFailing(true);
            memory.permitAll();
            Await.until("the store reports it", () -> store.problem().isPresent());
            assertThat(store.problem().orElseThrow()).matches(
                    "the RAM tier has .* of the .* of cache\\.ram\\.max-size \\(fallocate of .* failed: no space left on device\\): "
                            + "free memory on this host and in /dev/shm/.*, or reduce cache\\.ram\\.max-size");
            assertThat(store.gauges().ramAllocatedBytes()).isEqualTo(allocated);

            // the headers of the step that failed, and no page more: huge pages would fill the holes
            memory.awaitFailures(store, 2);
            int slabs = (int) ((SteppedMemory.FIRST_BYTES + SteppedMemory.STEP_BYTES) / LAYOUT.slabBytes());
            long headers = SteppedMemory.STEP_BYTES / LAYOUT.slabBytes() * LAYOUT.slabHeadersBytes();
            assertThat(HeldMemory.allocatedBytes(store.memoryFile())).isEqualTo(allocatedBytes(slabs) + headers);

            fill(store, 0, 200);
            int frames = (int) (SteppedMemory.FIRST_BYTES + SteppedMemory.STEP_BYTES) / BLOCK;
            assertThat(readable(reader, 200)).isBetween(frames / 2, frames);

            store.ram().memoryFile().retryGrowth();
            memory.setFailing(false);
            // the attempt under way may be the one before
            Await.until("all memory is allocated", () -> {
                store.ram().memoryFile().retryGrowth();
                return SteppedMemory.isComplete(store) && store.problem().isEmpty();
            });
            fill(store, 500, 700);
            assertThat(readable(reader, 1000)).isGreaterThan(frames);
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void testDoesNotStartWithoutItsFirstPart()
            throws Exception
    {
        memory.failAtTheStart();
        assertThatThrownBy(this::open)
                .isInstanceOf(StoreException.class)
                .hasMessageMatching(".* does not have the memory with which a RAM tier of .* starts \\(.*no space left on device\\): reduce cache.ram.max-size, "
                        + "or enlarge the file system");
        assertThat(files()).isEmpty();
    }

    @Test
    void testClosesInTheMiddleOfAStep()
            throws Exception
    {
        BlockStore store = open();
        fill(store, 0, FIRST_FRAMES);
        memory.awaitHeld();
        try (HeldMemory held = HeldMemory.open(store.memoryFile())) {
            CompletableFuture<Void> closed = CompletableFuture.runAsync(store::close);
            // the step is not interrupted, and what it allocated goes too
            memory.permitAll();
            closed.get();
            assertThat(files()).isEmpty();
            assertThat(held.allocatedBytes()).isEqualTo(MemoryLayout.headerBytes());
        }
    }

    /**
     * Killed while a step is under way. Its headers are allocated, its frames are not.
     */
    @Test
    void testKilledWhileTheMemoryGrows()
            throws Exception
    {
        Path log = directory.resolve("worker.log");
        Process worker = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path"),
                Worker.class.getName(),
                directory.toString(),
                memoryDirectory.toString())
                .redirectError(Redirect.to(log.toFile()))
                .start();
        HeldMemory old;
        SharedMemoryReader client;
        try (BufferedReader output = worker.inputReader(UTF_8)) {
            String line = output.readLine();
            assertThat(line).describedAs(Files.readString(log)).isNotNull();
            Path memoryFile = Path.of(line);
            old = HeldMemory.open(memoryFile);
            client = SharedMemoryReader.open(memoryFile);
            assertThat(readable(client, FIRST_FRAMES / 2)).isEqualTo(FIRST_FRAMES / 2);
        }
        finally {
            worker.destroyForcibly().waitFor();
        }
        assertThat(old.allocatedBytes()).isBetween(allocatedBytes(4), LAYOUT.fileSizeBytes() - 1);

        try (old; client; BlockStore store = open()) {
            try {
                assertThat(store.recovery()).extracting(RecoveryOutcome::finding).containsExactly(RecoveryFinding.MEMORY_FILE_RECLAIMED);
                // the new file grows only when the old one is free
                memory.awaitHeld();
                assertThat(files()).containsExactly(store.memoryFile());
                assertThat(old.allocatedBytes()).isEqualTo(MemoryLayout.headerBytes());
                assertThat(client.state()).isEqualTo(MemoryState.DEAD);
                assertThat(readable(client, 2000)).isZero();
            }
            finally {
                memory.permitAll();
            }
            Await.until("all memory is allocated", () -> SteppedMemory.isComplete(store));
            fill(store, 0, 10);
        }
        assertThat(files()).isEmpty();
    }

    static final class Worker
    {
        private Worker() {}

        static void main(String[] args)
                throws Exception
        {
            SteppedMemory memory = new SteppedMemory();
            BlockStore store = BlockStore.open(config(Path.of(args[0]), Path.of(args[1])), StoreEnvironment.system().withMemory(memory));
            for (int block = 0; block < FIRST_FRAMES / 2; block++) {
                fill(store, block);
            }
            memory.step(store);
            memory.awaitHeld();
            System.out.println(store.memoryFile());
            // until it is killed, or its parent is gone
            System.in.read();
        }
    }
}
