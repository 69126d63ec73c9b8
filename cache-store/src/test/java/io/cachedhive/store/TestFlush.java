package io.cachedhive.store;

import io.cachedhive.protocol.file.BlockKey;
import io.cachedhive.protocol.file.ETags;
import io.cachedhive.protocol.file.FileVersion;
import io.cachedhive.store.block.BlockTerms;
import io.cachedhive.store.block.SsdDirectoryConfig;
import io.cachedhive.store.block.SsdDirectoryConfig.Capacity;
import io.cachedhive.store.block.StoreEnvironment;
import io.cachedhive.store.block.StoreException;
import io.cachedhive.testing.Await;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is flushed is gone, to the last byte.
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

    private static BlockStore open(StoreConfig config)
            throws StoreException
    {
        return BlockStore.open(config, StoreEnvironment.system());
    }

    private static byte[] bytes(FileVersion file, int block)
    {
        return TestingBlocks.bytes(file.id().block(block), ETAG, file.blockLength(block, BLOCK));
    }

    private static void fill(BlockStore store, FileVersion file)
    {
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            assertThat(store.bind(file, Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            BlockKey key = file.id().block(block);
            int length = file.blockLength(block, BLOCK);
            Fill fill = TestingBlocks.awaitFrame(() -> store.beginFill(key, length, ETAG));
            fill.buffer().put(bytes(file, block));
            fill.commit().orElseThrow().close();
        }
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

    /**
     * In how many of its blocks a file is still to be seen, by any eight bytes at an even place of any file below the directory.
     */
    private long blocksSeen(FileVersion file)
            throws IOException
    {
        Map<Long, Integer> blocks = new HashMap<>();
        for (int block = 0; block < file.blockCount(BLOCK); block++) {
            ByteBuffer bytes = ByteBuffer.wrap(bytes(file, block)).order(ByteOrder.LITTLE_ENDIAN);
            while (bytes.remaining() >= 8) {
                blocks.put(bytes.getLong(), block);
            }
        }
        Set<Integer> seen = new HashSet<>();
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
                while (content.remaining() >= 8) {
                    Integer block = blocks.get(content.getLong());
                    if (block != null) {
                        seen.add(block);
                    }
                }
            }
        }
        return seen.size();
    }

    @Test
    void leavesNoByteInRam()
            throws Exception
    {
        leavesNoByte(ramOnly);
    }

    @Test
    void leavesNoByteInRamAndOnSsd()
            throws Exception
    {
        leavesNoByte(config);
        // a further run knows nothing of it either
        try (BlockStore store = open(config)) {
            assertThat(blocksFound(store, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            for (FileVersion file : FLUSHED) {
                assertThat(store.file(file.id())).isEmpty();
                assertThat(blocksFound(store, file)).isZero();
                assertThat(blocksSeen(file)).isZero();
            }
        }
    }

    /**
     * What left before for want of space, and lies behind the bytes of shorter blocks that took the frames.
     */
    @Test
    void leavesNoByteBehindShorterBlocks()
            throws Exception
    {
        try (BlockStore store = open(ramOnly)) {
            FileVersion flushed = FLUSHED.getLast();
            fill(store, flushed);
            int number = 100;
            // not by a use of it, which would keep it
            while (store.contents().describe(flushed.id(), 0, flushed.blockCount(BLOCK)).filter(description -> !description.blocks().isEmpty()).isPresent()) {
                // all but half a kilobyte of a block, in frames of the same size
                FileVersion shorter = TestingBlocks.file(number++, BLOCK - 512);
                fill(store, shorter);
                assertThat(blocksFound(store, shorter)).isEqualTo(1);
                assertThat(number).isLessThan(3_000);
            }
            store.flushes().flush(TestFlush::isFlushed);
            assertThat(blocksSeen(flushed)).isZero();
            store.checkInvariants();
        }
    }

    private void leavesNoByte(StoreConfig config)
            throws Exception
    {
        try (BlockStore store = open(config)) {
            FLUSHED.forEach(file -> fill(store, file));
            fill(store, KEPT);
            store.ssd().drain();
            for (FileVersion file : FLUSHED) {
                assertThat(blocksSeen(file)).isEqualTo(file.blockCount(BLOCK));
            }

            FlushResult result = store.flushes().flush(TestFlush::isFlushed);

            assertThat(result).isEqualTo(new FlushResult(2, true, Optional.empty()));
            for (FileVersion file : FLUSHED) {
                assertThat(store.file(file.id())).isEmpty();
                assertThat(blocksSeen(file)).describedAs("bytes of %s", file.location()).isZero();
                assertThat(blocksFound(store, file)).isZero();
            }
            assertThat(blocksFound(store, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            store.checkInvariants();

            assertThat(store.flushes().flush(TestFlush::isFlushed)).isEqualTo(new FlushResult(0, true, Optional.empty()));
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
        assertThat(store.flushes().flush(TestFlush::isFlushed).files()).isEqualTo(2);
        store.abandon();
        try (BlockStore next = open(config)) {
            assertThat(blocksFound(next, KEPT)).isEqualTo(KEPT.blockCount(BLOCK));
            for (FileVersion file : FLUSHED) {
                assertThat(blocksFound(next, file)).isZero();
                assertThat(blocksSeen(file)).isZero();
            }
        }
    }

    @Test
    void waitsForReadersAndFills()
            throws Exception
    {
        FileVersion file = FLUSHED.getFirst();
        BlockKey last = FLUSHED.getLast().id().block(0);
        try (BlockStore store = open(config)) {
            fill(store, file);
            PinnedBlock reader = store.load(file.id().block(3)).orElseThrow();
            assertThat(store.bind(FLUSHED.getLast(), Optional.of(ETAG_TEXT), false, "schema.table")).isTrue();
            Fill fill = store.beginFill(last, BLOCK, ETAG).orElseThrow();
            fill.buffer().put(TestingBlocks.bytes(last, ETAG, BLOCK));

            CompletableFuture<FlushResult> flush = CompletableFuture.supplyAsync(() -> store.flushes().flush(TestFlush::isFlushed));
            Await.until("both files are gone", () -> {
                assertThat(flush).isNotDone();
                return store.file(file.id()).isEmpty() && store.file(FLUSHED.getLast().id()).isEmpty();
            });
            // whoever reads it already gets to the end of it
            assertThat(TestingBlocks.copy(reader.payload())).isEqualTo(bytes(file, 3));
            assertThat(flush).isNotDone();
            reader.close();
            assertThat(fill.commit()).isEmpty();
            fill.close();
            assertThat(flush.get(1, TimeUnit.MINUTES)).isEqualTo(new FlushResult(2, true, Optional.empty()));
            for (FileVersion flushed : FLUSHED) {
                assertThat(blocksSeen(flushed)).isZero();
            }
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

    @Test
    void whatWasEvictedIsNotInRam()
            throws Exception
    {
        // much more than there is room for
        FileVersion large = TestingBlocks.file(4, 200L * BLOCK);
        try (BlockStore store = open(ramOnly)) {
            FLUSHED.forEach(file -> fill(store, file));
            fill(store, large);
            store.flushes().flush(large::equals);
            assertThat(store.flushes().flush(TestFlush::isFlushed).problem()).isEmpty();
            assertThat(blocksSeen(large)).isZero();
            for (FileVersion file : FLUSHED) {
                assertThat(blocksSeen(file)).isZero();
            }
            assertThat(store.gauges().ramBlocks()).isZero();
            store.checkInvariants();
        }
    }
}
