package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Flushed blocks are never served again. Bytes in frames and extents remain until they are reused, so these tests read through the store only.
 */
class TestFlush
{
    private static final int BLOCK = 64 << 10;
    private static final String ETAG_TEXT = "\"etag\"";
    private static final long ETAG = ETags.digest(ETAG_TEXT);
    // with a last block that is shorter
    private static final List<FileVersion> FLUSHED = List.of(TestingBlocks.file(1, 9 * BLOCK + 1000), TestingBlocks.file(2, 8 * BLOCK));
    private static final FileVersion KEPT = TestingBlocks.file(3, 8 * BLOCK);

    @TempDir
    private Path directory;

    private final FakeDisk disk = new FakeDisk();
    private final HookedDisk hooked = new HookedDisk(disk);
    private StoreConfig ramOnly;
    private StoreConfig config;

    @BeforeEach
    void makeDirectories()
            throws IOException
    {
        ramOnly = StoreConfig.ramOnly(directory.resolve("state"))
                .withBlockSize(BLOCK)
                .withRam(Files.createDirectories(directory.resolve("ram")), 8 << 20)
                .withCheckpointInterval(Duration.ofDays(1000));
        config = ramOnly.withSsdDirectories(List.of(
                new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-1")), new Capacity.Bytes(8 << 20)),
                new SsdDirectoryConfig(Files.createDirectories(directory.resolve("ssd-2")), new Capacity.Bytes(8 << 20))));
    }

    private BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system().withDisk(hooked.disk()).withClock(new FastClock()));
    }

    private static byte[] bytes(FileVersion file, int block)
    {
        return TestingBlocks.bytes(file.id().block(block), ETAG, file.blockLength(block, BLOCK));
    }

    private static void fill(BlockStore store, FileVersion file)
    {
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            fill(store, file, block);
        }
    }

    private static void fill(BlockStore store, FileVersion file, int block)
    {
        assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
        BlockKey key = file.id().block(block);
        int length = file.blockLength(block, BLOCK);
        Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, length, ETAG));
        fill.buffer().put(bytes(file, block));
        fill.commit().orElseThrow().close();
    }

    private static boolean isFlushed(FileVersion file)
    {
        return FLUSHED.contains(file);
    }

    private static long blocksFound(BlockStore store, FileVersion file)
    {
        long found = 0;
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            Optional<PinnedBlock> loaded = store.load(file.id().block(block));
            if (loaded.isPresent()) {
                try (PinnedBlock pinned = loaded.get()) {
                    assertThat(TestingBlocks.copy(pinned.payload())).isEqualTo(bytes(file, block));
                }
                found++;
            }
        }
        return found;
    }

    @Test
    void servesNothingOfItFromRam()
            throws Exception
    {
        servesNothingOfIt(ramOnly);
    }

    @Test
    void servesNothingOfItFromSsd()
            throws Exception
    {
        servesNothingOfIt(config);
        // a further run knows nothing of it either
        try (BlockStore store = open(config)) {
            assertThat(blocksFound(store, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            for (FileVersion file : FLUSHED) {
                assertThat(store.file(file.id())).isEmpty();
                assertThat(blocksFound(store, file)).isZero();
            }
        }
    }

    private void servesNothingOfIt(StoreConfig config)
            throws Exception
    {
        try (BlockStore store = open(config)) {
            FLUSHED.forEach(file -> fill(store, file));
            fill(store, KEPT);
            store.ssd().drain();
            for (FileVersion file : FLUSHED) {
                assertThat(blocksFound(store, file)).isEqualTo(file.blockCount(BLOCK));
            }

            FlushResult result = store.flushes().flush(TestFlush::isFlushed);

            assertThat(result).isEqualTo(new FlushResult(2, true));
            for (FileVersion file : FLUSHED) {
                assertThat(store.file(file.id())).isEmpty();
                assertThat(blocksFound(store, file)).isZero();
            }
            assertThat(blocksFound(store, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            assertThat(store.gauges().ssdBlocks()).isEqualTo(config.ssdDirectories().isEmpty() ? 0 : KEPT.blockCount(BLOCK));
            store.checkInvariants();

            assertThat(store.flushes().flush(TestFlush::isFlushed)).isEqualTo(new FlushResult(0, true));
            // and comes again when it is asked for
            fill(store, FLUSHED.getFirst());
            assertThat(blocksFound(store, FLUSHED.getFirst())).isEqualTo(FLUSHED.getFirst().blockCount(BLOCK));
            assertThat(store.flushes().flush(TestFlush::isFlushed).files()).isEqualTo(1);
            store.checkInvariants();
        }
    }

    @Test
    void isDurable()
            throws Exception
    {
        BlockStore store = open(config);
        FLUSHED.forEach(file -> fill(store, file));
        fill(store, KEPT);
        store.ssd().drain();
        store.ssd().flush();
        store.ssd().checkpoint();
        assertThat(store.flushes().flush(TestFlush::isFlushed)).isEqualTo(new FlushResult(2, true));
        disk.turnOff();
        store.abandon();
        disk.turnOn(new Random(1));
        try (BlockStore next = open(config)) {
            assertThat(blocksFound(next, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            for (FileVersion file : FLUSHED) {
                assertThat(blocksFound(next, file)).isZero();
            }
        }
    }

    /**
     * A reader that has a block gets to its end, and a fill that began before is not kept; the flush waits for neither.
     */
    @Test
    void doesNotWaitForReadersAndFills()
            throws Exception
    {
        FileVersion file = FLUSHED.getFirst();
        FileVersion filled = FLUSHED.getLast();
        BlockKey last = filled.id().block(0);
        try (BlockStore store = open(config)) {
            fill(store, file);
            PinnedBlock reader = store.load(file.id().block(3)).orElseThrow();
            assertThat(store.bind(filled, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            Fill fill = store.beginFill(last, BLOCK, ETAG).orElseThrow();
            fill.buffer().put(TestingBlocks.bytes(last, ETAG, BLOCK));

            assertThat(store.flushes().flush(TestFlush::isFlushed)).isEqualTo(new FlushResult(2, true));

            assertThat(TestingBlocks.copy(reader.payload())).isEqualTo(bytes(file, 3));
            assertThat(store.load(file.id().block(3))).isEmpty();
            reader.close();
            assertThat(fill.commit()).isEmpty();
            fill.close();
            assertThat(blocksFound(store, filled)).isZero();
            store.checkInvariants();
        }
    }

    @Test
    void refusesWhatWasAskedForBefore()
            throws Exception
    {
        BlockKey key = KEPT.id().block(0);
        try (BlockStore store = open(ramOnly)) {
            long before = store.flushes().count();
            assertThat(store.bind(KEPT, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            BlockTerms terms = store.terms(Optional.empty(), OptionalLong.empty());
            store.beginFill(key, BLOCK, ETAG, terms, before).orElseThrow().close();
            store.flushes().flush(KEPT::equals);
            assertThat(store.bind(KEPT, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            assertThat(store.beginFill(key, BLOCK, ETAG, terms, before)).isEmpty();
            store.beginFill(key, BLOCK, ETAG, terms, store.flushes().count()).orElseThrow().close();
            store.checkInvariants();
        }
    }

    /**
     * A block is flushed while it is written to SSD, by a write that succeeds.
     */
    @Test
    void dropsABlockThatIsBeingWritten()
            throws Exception
    {
        FileVersion file = FLUSHED.getFirst();
        try (BlockStore store = open(config)) {
            assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            // keeps the dropped file in the table
            Fill open = store.beginFill(file.id().block(1), BLOCK, ETAG).orElseThrow();
            CompletableFuture<FlushResult> flush = new CompletableFuture<>();
            hooked.onNextWrite(() -> {
                flush.complete(store.flushes().flush(TestFlush::isFlushed));
            });
            fill(store, file, 0);
            assertThat(flush.get(1, TimeUnit.MINUTES)).isEqualTo(new FlushResult(1, true));
            store.ssd().drain();
            assertThat(store.gauges().ssdBlocks()).isZero();
            assertThat(blocksFound(store, file)).isZero();
            open.close();
            store.checkInvariants();
        }
    }

    /**
     * A block is flushed while it is read from SSD.
     */
    @Test
    void dropsABlockThatIsBeingRead()
            throws Exception
    {
        FileVersion file = FLUSHED.getFirst();
        try (BlockStore store = open(config)) {
            fill(store, file);
        }
        try (BlockStore store = open(config)) {
            hooked.onNextRead(() -> assertThat(store.flushes().flush(TestFlush::isFlushed)).isEqualTo(new FlushResult(1, true)));
            assertThat(store.load(file.id().block(0))).isEmpty();
            assertThat(store.gauges().ramBlocks()).isZero();
            store.checkInvariants();
        }
    }

    /**
     * Whatever ends a flush early: what it dropped is gone, also after a power cut.
     */
    @Test
    void leavesNothingBehindOfWhatItDroppedWhenItFails()
            throws Exception
    {
        BlockStore store = open(config);
        FLUSHED.forEach(file -> fill(store, file));
        fill(store, KEPT);
        store.ssd().drain();
        store.ssd().checkpoint();
        assertThatThrownBy(() -> store.flushes().flush(file -> {
            if (file.equals(KEPT)) {
                throw new IllegalStateException("planted");
            }
            return true;
        })).hasMessage("planted");
        assertThat(store.gauges().files()).isEqualTo(1);
        assertThat(store.gauges().ssdBlocks()).isEqualTo(KEPT.blockCount(BLOCK));
        store.checkInvariants();
        disk.turnOff();
        store.abandon();
        disk.turnOn(new Random(1));
        try (BlockStore next = open(config)) {
            assertThat(blocksFound(next, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            for (FileVersion file : FLUSHED) {
                assertThat(blocksFound(next, file)).isZero();
            }
        }
    }
}
