package io.cachedhive.store;

import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.SsdErrorCause;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.store.disk.DiskException;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What is flushed while something goes wrong is overwritten later, and nobody hears before that all is well.
 */
@Timeout(300)
@Tag("slow")
class TestFlushInTrouble
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    private static final Duration MORE_THAN_A_SUSPENSION = Duration.ofSeconds(11);
    // more than are overwritten at once
    private static final FileVersion FLUSHED = TestingBlocks.file(1, 100L * BLOCK);
    private static final FileVersion KEPT = TestingBlocks.file(2, 8L * BLOCK);

    @TempDir
    private Path directory;

    private final ManualClock clock = new ManualClock();
    private final FakeDisk disk = new FakeDisk();
    private final HookedDisk hooked = new HookedDisk(disk);
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        config = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 16 << 20)
                .withCheckpointInterval(Duration.ofDays(1000))
                .withSsdDirectories(List.of(new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd")), new Capacity.Bytes(16 << 20))));
    }

    private BlockStore open()
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(hooked.disk()).withClock(clock));
    }

    private static byte[] bytes(FileVersion file, int block)
    {
        return TestingBlocks.bytes(file.id().block(block), ETAG, file.blockLength(block, BLOCK));
    }

    private void fill(BlockStore store, FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        Optional<Fill> begun = store.beginFill(file.id().block(block), file.blockLength(block, BLOCK), ETAG);
        for (int i = 0; begun.isEmpty() && i < 10; i++) {
            // frames rest a moment before they are given away
            clock.advance(Duration.ofMillis(20));
            begun = store.beginFill(file.id().block(block), file.blockLength(block, BLOCK), ETAG);
        }
        try (Fill fill = begun.orElseThrow()) {
            fill.buffer().put(bytes(file, block));
            fill.commit().orElseThrow().close();
        }
    }

    private void fill(BlockStore store, FileVersion file)
    {
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            fill(store, file, block);
            store.ssd().drain();
        }
    }

    private static Map<Long, Integer> blocksByBytes(FileVersion file)
    {
        Map<Long, Integer> blocks = new HashMap<>();
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            ByteBuffer bytes = ByteBuffer.wrap(bytes(file, block)).order(ByteOrder.LITTLE_ENDIAN);
            while (bytes.remaining() >= 8) {
                blocks.put(bytes.getLong(), block);
            }
        }
        return blocks;
    }

    private static int blocksSeen(FileVersion file, List<byte[]> contents)
    {
        Map<Long, Integer> blocks = blocksByBytes(file);
        Set<Integer> seen = new HashSet<>();
        for (byte[] content : contents) {
            ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
            while (buffer.remaining() >= 8) {
                Integer block = blocks.get(buffer.getLong());
                if (block != null) {
                    seen.add(block);
                }
            }
        }
        return seen.size();
    }

    /**
     * In how many of its blocks a file is still to be seen on SSD.
     */
    private int onSsd(FileVersion file)
    {
        return blocksSeen(file, slabs().stream().map(disk::bytes).toList());
    }

    /**
     * Likewise in RAM.
     */
    private int inRam(FileVersion file)
            throws IOException
    {
        List<byte[]> contents = new ArrayList<>();
        try (Stream<Path> paths = Files.walk(directory.resolve("ram"))) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                contents.add(Files.readAllBytes(path));
            }
        }
        return blocksSeen(file, contents);
    }

    private List<Path> slabs()
    {
        return disk.files().stream().filter(file -> file.getFileName().toString().startsWith("slab-")).toList();
    }

    private void setFailing(boolean fails)
    {
        slabs().forEach(slab -> disk.setFailing(slab, fails));
    }

    private void assertLeft(BlockStore store, int files)
    {
        FlushResult result = store.flushes().flush(FLUSHED::equals);
        assertThat(result.files()).isEqualTo(files);
        assertThat(result.durable()).isTrue();
        assertThat(result.problem()).hasValueSatisfying(problem -> assertThat(problem).contains(directory.resolve("ssd").toString(), "still has flushed bytes"));
        assertThat(onSsd(FLUSHED)).isEqualTo(100);
        assertThat(store.gauges().ssdBlocks()).isEqualTo(8);
        store.checkInvariants();
    }

    @Test
    void whoAsksAgainHearsOfWhatIsLeftUntilItIsOverwritten()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            fill(store, KEPT);
            assertThat(onSsd(FLUSHED)).isEqualTo(100);
            setFailing(true);
            assertLeft(store, 1);
            assertLeft(store, 0);
            // one that covers nothing at all
            assertThat(store.flushes().flush(_ -> false).problem()).isPresent();
            clock.advance(MORE_THAN_A_SUSPENSION);
            assertLeft(store, 0);

            setFailing(false);
            clock.advance(MORE_THAN_A_SUSPENSION);
            assertThat(store.flushes().flush(FLUSHED::equals)).isEqualTo(new FlushResult(0, true, Optional.empty()));
            assertThat(onSsd(FLUSHED)).isZero();
            assertThat(onSsd(KEPT)).isEqualTo(8);
            store.checkInvariants();
            fill(store, FLUSHED);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(108);
            store.checkInvariants();
        }
    }

    @Test
    void aDirectoryThatTakesNothingIsNotTriedBlockByBlock()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            fill(store, KEPT);
            setFailing(true);
            fill(store, TestingBlocks.file(3, BLOCK));
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, 1L);
            assertLeft(store, 1);
            assertLeft(store, 0);
            assertThat(store.gauges().ssdErrors()).containsEntry(SsdErrorCause.IO_ERROR, 1L);
        }
    }

    @Test
    void whatIsLeftIsOverwrittenWithoutAFurtherFlush()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            fill(store, KEPT);
            setFailing(true);
            assertLeft(store, 1);
            setFailing(false);
            clock.advance(MORE_THAN_A_SUSPENSION);
            Await.until("nothing is left", () -> onSsd(FLUSHED) == 0);
            assertThat(onSsd(KEPT)).isEqualTo(8);
            assertThat(store.flushes().flush(FLUSHED::equals)).isEqualTo(new FlushResult(0, true, Optional.empty()));
            store.checkInvariants();
        }
    }

    @Test
    void whatIsLeftIsNobodysPlace()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            fill(store, KEPT);
            List<Path> slabs = slabs();
            // one place that fails for good
            Path bad = slabs.stream().filter(slab -> blocksSeen(FLUSHED, List.of(disk.bytes(slab))) > 0).findFirst().orElseThrow();
            int left = blocksSeen(FLUSHED, List.of(disk.bytes(bad)));
            disk.setFailing(bad, true);
            store.flushes().flush(FLUSHED::equals);
            while (onSsd(FLUSHED) > left) {
                clock.advance(MORE_THAN_A_SUSPENSION);
                LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
                assertThat(store.flushes().flush(FLUSHED::equals).problem()).isPresent();
            }
            disk.setFailing(bad, false);
            clock.advance(MORE_THAN_A_SUSPENSION);
            assertThat(store.flushes().flush(FLUSHED::equals).problem()).isEmpty();
            assertThat(onSsd(FLUSHED)).isZero();
            // everything can be had again, and more than there is room for
            FileVersion large = TestingBlocks.file(4, 400L * BLOCK);
            for (int block = 0; block < 400; block++) {
                fill(store, large, block);
                store.ssd().drain();
            }
            store.checkInvariants();
        }
    }

    @Test
    void aRestartGoesOnWithoutWhatIsLeft()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            fill(store, KEPT);
            setFailing(true);
            assertLeft(store, 1);
            setFailing(false);
        }
        try (BlockStore store = open()) {
            store.checkInvariants();
            assertThat(store.file(FLUSHED.id())).isEmpty();
            assertThat(store.gauges().ssdBlocks()).isEqualTo(8);
            fill(store, FLUSHED);
            assertThat(store.flushes().flush(FLUSHED::equals)).isEqualTo(new FlushResult(1, true, Optional.empty()));
            store.checkInvariants();
        }
    }

    /**
     * A block on its way to the disk is flushed, and written in part.
     */
    @Test
    void whatFailsOnItsWayIsLeftAsWell()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, KEPT);
            CompletableFuture<FlushResult> flush = new CompletableFuture<>();
            hooked.onNextWrite(() -> {
                flush.completeAsync(() -> store.flushes().flush(FLUSHED::equals));
                Await.until("the file is gone", () -> store.file(FLUSHED.id()).isEmpty());
                throw new DiskException(DiskException.Cause.IO_ERROR, "write failed: planted");
            });
            fill(store, FLUSHED, 0);
            assertThat(flush.get(1, TimeUnit.MINUTES).problem()).hasValueSatisfying(problem -> assertThat(problem).contains("still has flushed bytes"));
            clock.advance(MORE_THAN_A_SUSPENSION);
            assertThat(store.flushes().flush(FLUSHED::equals).problem()).isEmpty();
            store.checkInvariants();
        }
    }

    /**
     * Of a block that left, bytes are in a frame that is being filled while its file is flushed.
     */
    @Test
    void aFillThatEndsWithoutABlockLeavesNothingOfAnEarlierOne()
            throws Exception
    {
        FileVersion other = TestingBlocks.file(3, 1000L * BLOCK);
        config = config.withSsdDirectories(List.of());
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            store.flushes().dropFile(FLUSHED.id());
            assertThat(inRam(FLUSHED)).isEqualTo(100);
            assertThat(store.bind(other, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            List<Fill> fills = new ArrayList<>();
            Optional<Fill> begun = store.beginFill(other.id().block(0), BLOCK, ETAG);
            while (begun.isPresent()) {
                fills.add(begun.get());
                begun = store.beginFill(other.id().block(fills.size()), BLOCK, ETAG);
            }
            assertThat(store.flushes().flush(FLUSHED::equals)).isEqualTo(new FlushResult(0, true, Optional.empty()));
            fills.forEach(Fill::close);
            assertThat(inRam(FLUSHED)).isZero();
            store.checkInvariants();
        }
    }

    /**
     * Likewise, in one into which a block is read from SSD.
     */
    @Test
    void aReadThatFailsLeavesNothingOfAnEarlierBlock()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, KEPT);
        }
        try (BlockStore store = open()) {
            setFailing(true);
            fill(store, FLUSHED);
            store.flushes().dropFile(FLUSHED.id());
            assertThat(inRam(FLUSHED)).isEqualTo(100);
            setFailing(false);
            clock.advance(MORE_THAN_A_SUSPENSION);
            hooked.onNextRead(() -> {
                store.flushes().flush(FLUSHED::equals);
                assertThat(inRam(FLUSHED)).as("it cannot overwrite the one that is being read into").isEqualTo(1);
                throw new DiskException(DiskException.Cause.IO_ERROR, "read failed: planted");
            });
            assertThat(store.load(KEPT.id().block(0))).isEmpty();
            assertThat(inRam(FLUSHED)).isZero();
            store.checkInvariants();
        }
    }

    /**
     * Whatever ends a flush early: what it dropped is gone.
     */
    @Test
    void aFlushThatFailsLeavesNothingBehindOfWhatItDropped()
            throws Exception
    {
        try (BlockStore store = open()) {
            fill(store, FLUSHED);
            fill(store, KEPT);
            assertThatThrownBy(() -> store.flushes().flush(file -> {
                if (file.equals(KEPT)) {
                    throw new IllegalStateException("planted");
                }
                return true;
            })).hasMessage("planted");
            assertThat(store.gauges().files()).isEqualTo(1);
            assertThat(store.gauges().ssdBlocks()).isEqualTo(8);
            store.checkInvariants();
            // nor are its frames taken
            assertThat(store.flushes().flush(FLUSHED::equals).problem()).isEmpty();
            assertThat(inRam(FLUSHED)).isZero();
        }
    }
}
